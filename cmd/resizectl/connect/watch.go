package connect

import (
	"context"
	"fmt"
	"iter"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// watch opens a watch with more options.
type watch[T any] func(...client.WatchOption) iter.Seq2[client.Event[T], error]

// Follow prints the events of a watch until it ends. The error is why.
func Follow[T any](ctx context.Context, streams genericiooptions.IOStreams, events watch[T], out *print.EventPrinter[T]) error {
	interruptions := 0
	tell := func(why error) {
		interruptions++
		// Whoever ends what is too old lets in again at once: that is no news. And
		// whoever has pressed Ctrl-C knows.
		if interruptions == 2 && ctx.Err() == nil {
			_, _ = fmt.Fprintf(streams.ErrOut, "warning: the watch is interrupted, and tried again: %s\n", print.OneLine(dialCause(MessageOf(why))))
		}
	}
	for event, err := range events(client.OnRetry(tell)) {
		if err != nil {
			return err
		}
		if !event.Reset {
			interruptions = 0
		} else {
			if _, err := fmt.Fprintln(streams.ErrOut, "warning: nobody can tell what has changed meanwhile, so the present state follows"); err != nil {
				return err
			}
		}
		if err := out.Print(event); err != nil {
			return err
		}
	}
	return nil
}

// WatchHelp is what all watches have in common.
const WatchHelp = `EVENT is added, modified or deleted. With -o json there is an object per line, with
-o yaml a document per event; both have bookmarks, too, the first of which ends the
present state. Where it has to begin anew, standard error says so, and the present
state comes once more.

It goes on where it was when the connection is lost, until Ctrl-C, or as long as
--timeout says if it is given.`
