package connect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// watch opens a watch with additional options.
type watch[T proto.Message] func(...client.WatchOption) iter.Seq2[client.Event[T], error]

// Follow prints the events of a watch until it ends, and returns why it ended. If it ends
// because of --timeout, after the current state was printed, that is no error.
func Follow[T proto.Message](ctx context.Context, streams genericiooptions.IOStreams, events watch[T], out *print.EventPrinter[T]) error {
	interruptions, complete := 0, false
	tell := func(why error) {
		interruptions++
		// A server that ends an old connection accepts a new one immediately, so the first
		// interruption needs no warning. Nor does one that Ctrl-C caused.
		if interruptions == 2 && ctx.Err() == nil {
			_, _ = fmt.Fprintf(streams.ErrOut, "warning: the watch was interrupted, retrying: %s\n", print.OneLine(dialCause(MessageOf(why))))
		}
	}
	for event, err := range events(client.OnRetry(tell)) {
		switch {
		case err != nil && timedOut(ctx, err) && complete && interruptions == 0:
			return nil // The watch has run for as long as the user set.
		case err != nil:
			return err
		}
		complete = complete || event.ResumeToken != "" // There is none before that.
		if !event.Reset {
			interruptions = 0
		} else {
			if err := print.Texts(streams.ErrOut, "warning: the watch may have missed changes, so the current state follows"); err != nil {
				return err
			}
		}
		if err := out.Print(event); err != nil {
			return err
		}
	}
	return nil
}

// timedOut reports whether a watch ended because of --timeout.
func timedOut(ctx context.Context, err error) bool {
	return errors.Is(ctx.Err(), context.DeadlineExceeded) || status.Code(err) == codes.DeadlineExceeded && client.Reason(err) == ""
}

// WatchHelp is the help that all watches have in common.
const WatchHelp = `EVENT is added, modified or deleted. With -o json, each line is an object; with -o
yaml, each event is a document. Both also print bookmarks; the first bookmark ends
the current state. If the watch has to start over, it says so on standard error
and prints the current state again.

If the connection is lost, the watch resumes where it was. It runs until Ctrl-C
or, if you set --timeout, for that long; both are not errors, but after a signal the
exit code is 128 plus its number: 130 after Ctrl-C.`

// PollPause is the pause between two questions of a watch that the API does not have. If an answer takes
// long, the pause is nine times as long, so that a watch keeps a server busy for a tenth of the time
// at most. Tests shorten it.
var PollPause = 5 * time.Second

// PauseAfter returns the pause after an answer that took so long.
func PauseAfter(took time.Duration) time.Duration { return max(PollPause, 9*took) }

// PauseWhileSeen is like PauseAfter for what people look at. It must not stay old for long because one answer was slow, or the network
// gave none until the time ran out.
func PauseWhileSeen(took time.Duration, err error) time.Duration {
	if err != nil {
		return min(PauseAfter(took), longestPause)
	}
	return min(PauseAfter(took), 2*longestPause)
}

// PollHelp is the help that all watches without a watch in the API have in common.
const PollHelp = `The
command asks again every 5 seconds or, if an answer takes longer than half a second,
less often. It runs until Ctrl-C or, if you set --timeout, for that long; both are
not errors, but after a signal the exit code is 128 plus its number: 130 after Ctrl-C.`

// Poll calls ask until ctx is done. Once it has succeeded, a server that does not answer for a while
// is only a warning. It is no error if ctx ends because of --timeout after that.
func (c *Connection) Poll(ctx context.Context, ask func(context.Context, *client.Client) error) error {
	return c.Stream(ctx, func(ctx context.Context, server *client.Client) error {
		known, failed := false, false
		for {
			begin := time.Now()
			err := ask(ctx, server)
			switch {
			case err != nil && known && timedOut(ctx, err):
				return nil
			case err != nil && (!known || ctx.Err() != nil || !passes(err)):
				return err
			case err != nil && !failed:
				if _, err := fmt.Fprintf(c.errOut, "warning: the watch was interrupted, retrying: %s\n", print.OneLine(dialCause(MessageOf(err)))); err != nil {
					return err
				}
			}
			known, failed = known || err == nil, err != nil
			select {
			case <-time.After(PauseAfter(time.Since(begin))):
			case <-ctx.Done():
				if known && errors.Is(ctx.Err(), context.DeadlineExceeded) {
					return nil
				}
				return ctx.Err()
			}
		}
	})
}

// passes reports whether an error may pass by itself.
func passes(err error) bool {
	code := status.Code(err)
	return client.IsUnreachable(err) || code == codes.Unavailable || code == codes.ResourceExhausted
}

// Repeat prints what show prints, and again whenever that has changed.
func (c *Connection) Repeat(ctx context.Context, out *print.Output, show func(context.Context, *client.Client, *print.Output) error) error {
	var last string
	return c.Poll(ctx, func(ctx context.Context, server *client.Client) error {
		var text bytes.Buffer
		to := out.To(&text)
		if err := show(ctx, server, &to); err != nil {
			return err
		}
		if text.String() == last {
			return nil
		}
		if err := separate(out, last != ""); err != nil {
			return err
		}
		last = text.String()
		_, err := io.WriteString(out.Out, last)
		return err
	})
}

// separate separates an answer from the one before it, if there is one.
func separate(out *print.Output, again bool) error {
	text := ""
	switch {
	case out.Format == print.FormatYAML:
		text = "---\n"
	case again && !out.Format.IsDocument():
		text = "\n"
	}
	_, err := io.WriteString(out.Out, text)
	return err
}
