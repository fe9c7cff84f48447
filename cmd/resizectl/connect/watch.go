package connect

import (
	"context"
	"errors"
	"fmt"
	"iter"

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
			if _, err := fmt.Fprintln(streams.ErrOut, "warning: the watch may have missed changes, so the current state follows"); err != nil {
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
or, if you set --timeout, for that long; both are not errors, but after Ctrl-C the
exit code is 130.`
