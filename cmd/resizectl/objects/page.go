package objects

import (
	"context"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// Page is a command that shows one answer as text, and can show it again whenever it has changed.
type Page[M proto.Message] struct {
	Verb
	// Fetch asks the server.
	Fetch func(context.Context, *client.Client, *print.Output) (M, error)
	// Text prints the answer, unless it is printed as a document.
	Text func(*print.Output, M) error
	// WatchFlag is the help of --watch; empty if there is none.
	WatchFlag string
}

// Command returns the command.
func (p Page[M]) Command(out print.Output, server *connect.Connection) *cobra.Command {
	o, watch := &out, false
	show := func(ctx context.Context, c *client.Client, to *print.Output) error {
		answer, err := p.Fetch(ctx, c, to)
		switch {
		case err != nil:
			return err
		case to.Format.IsDocument():
			return to.Document(answer)
		}
		return p.Text(to, answer)
	}
	cmd := p.command(func(ctx context.Context) error {
		if watch {
			return server.Repeat(ctx, o, show)
		}
		return server.Call(ctx, func(ctx context.Context, c *client.Client) error { return show(ctx, c, o) })
	})
	if p.WatchFlag != "" {
		cmd.Flags().BoolVarP(&watch, "watch", "w", false, p.WatchFlag)
	}
	command.AddOutputFlag(cmd, &o.Format)
	return cmd
}
