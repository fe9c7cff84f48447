package objects

import (
	"context"
	"iter"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// Verb is what users read of a command, and what they enter.
type Verb struct {
	Use, Short, Long, Example string
	// Args checks the number of arguments; nil if there are none.
	Args     cobra.PositionalArgs
	Complete cobra.CompletionFunc
	// Flags adds the flags that the command has apart from those of its formats.
	Flags func(*cobra.Command)
	// Steps parse and check the flags and arguments.
	Steps []command.Step
}

func (v Verb) command(run func(context.Context) error) *cobra.Command {
	if v.Args == nil {
		v.Args = command.Args(cobra.NoArgs)
	}
	cmd := &cobra.Command{
		Use: v.Use, Short: v.Short, Long: v.Long, Example: v.Example,
		Args: v.Args, ValidArgsFunction: v.Complete, RunE: command.Steps(run, v.Steps...),
	}
	if v.Flags != nil {
		v.Flags(cmd)
	}
	return cmd
}

// Answer is what a command shows.
type Answer[M proto.Message] struct {
	Objects []M
	// Document are the messages that hold these objects, and whose fields documents print.
	Document []proto.Message
	// Empty is the line on standard error if there are no objects.
	Empty string
	// Text prints the objects instead of a table; nil for a table.
	Text func(*print.Output) error
	// Below prints what follows below a table; nil if nothing does.
	Below func(*print.Output) error
	// Remarks are what else standard error says, in every format. Empty ones are left out.
	Remarks []string
}

// List is a command that shows objects, and can show how they change.
type List[M proto.Message, R any] struct {
	Verb
	// One means that it shows one object, so that nothing is sorted.
	One  bool
	Kind func(*print.Output) Kind[M, R]
	// Fetch asks the server.
	Fetch func(context.Context, *client.Client, *print.Output) (*Answer[M], error)
	// Watch opens a watch of the objects; nil if there is none. WatchFlag is the help of --watch.
	Watch     func(context.Context, *client.Client, ...client.WatchOption) iter.Seq2[client.Event[M], error]
	WatchFlag string
}

// Command returns the command.
func (l List[M, R]) Command(out print.Output, server *connect.Connection) *cobra.Command {
	o, watch := &out, false
	if l.WatchFlag != "" {
		l.Steps = append(l.Steps, func(cmd *cobra.Command, _ []string) error {
			if watch && o.SortBy.IsSet() {
				return command.UsageErrorf(cmd, "--sort-by cannot be combined with --watch: changes arrive in their own order")
			}
			return nil
		})
	}
	cmd := l.command(func(ctx context.Context) error {
		if watch {
			return l.follow(ctx, o, server)
		}
		return l.show(ctx, o, server)
	})
	if l.WatchFlag != "" {
		cmd.Flags().BoolVarP(&watch, "watch", "w", false, l.WatchFlag)
	}
	switch {
	case l.One:
		command.AddObjectFlags(cmd, o)
	case l.Kind(o).Name == nil:
		command.AddRowFlags(cmd, o)
	default:
		command.AddListFlags(cmd, o)
	}
	return cmd
}

// WatchCommand returns the command that shows the same objects, and then their changes.
func (l List[M, R]) WatchCommand(v Verb, out print.Output, server *connect.Connection) *cobra.Command {
	if v.Use == "" {
		v.Use = "watch"
	}
	cmd := v.command(func(ctx context.Context) error { return l.follow(ctx, &out, server) })
	command.AddObjectFlags(cmd, &out)
	return cmd
}

func (l List[M, R]) show(ctx context.Context, o *print.Output, server *connect.Connection) error {
	return server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		a, err := l.Fetch(ctx, c, o)
		if err != nil {
			return err
		}
		if err := l.print(o, a); err != nil {
			return err
		}
		if len(a.Objects) > 0 {
			a.Empty = ""
		}
		return print.Texts(o.ErrOut, append([]string{a.Empty}, a.Remarks...)...)
	})
}

// print prints the objects on standard output, in the order of --sort-by.
func (l List[M, R]) print(o *print.Output, a *Answer[M]) error {
	if err := print.Sort(o.SortBy, a.Objects); err != nil {
		return err
	}
	switch kind := l.Kind(o); {
	case o.Format.IsDocument():
		return o.Document(a.Document...)
	case o.Format.IsListing():
		return print.Listing(o, kind.Name, a.Objects...)
	case a.Text != nil:
		return a.Text(o)
	default:
		if err := o.Table(kind.Table(a.Objects...)); err != nil || a.Below == nil {
			return err
		}
		return a.Below(o)
	}
}

func (l List[M, R]) follow(ctx context.Context, o *print.Output, server *connect.Connection) error {
	return server.Stream(ctx, func(ctx context.Context, c *client.Client) error {
		events := func(opts ...client.WatchOption) iter.Seq2[client.Event[M], error] { return l.Watch(ctx, c, opts...) }
		return connect.Follow(ctx, o.IOStreams, events, l.Kind(o).Events(o))
	})
}

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
