package console

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/console/gate"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/console/pages"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// farewell is how long browsers have to hear that the console ends.
const farewell = time.Second

type options struct {
	out    print.Output
	server *connect.Connection
	// path is the page to begin with.
	path   string
	noOpen bool
	port   int
}

// NewCommand returns console.
func NewCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &options{out: out, server: server}
	cmd := &cobra.Command{
		Use:   "console [PATH]",
		Short: "Show the cluster in a browser: workloads, nodes, savings, plans, history, setup",
		Long: `Show the cluster in a browser: workloads, nodes, what was saved over time, plans, history,
setup, and why each pod has its size. PATH is the page to begin with, such as
'/workloads?namespace=shop', as "Copy link" on each page copies it.

The pages are served on this machine, by this command, until Ctrl-C. They show what the
server lets you see, and are live, except plans. They change nothing: for each change,
they have a command to copy.

Only your browser can read the pages: their address is secret, and the login that
leads there works once, within a minute. It is passed in a file that only you can read.
Without a browser on this machine, print the address with --no-open. If you are
logged in with SSH, choose a port, and forward it: run "ssh -L 8001:localhost:8001 HOST",
then, on that host, "resizectl console --no-open --port 8001". A browser that cannot
resolve names that end in .localhost cannot open the pages; Chrome, Edge and Firefox can.`,
		Example: `  # Open the overview
  resizectl console

  # Open the workloads in a namespace that would be resized
  resizectl console '/workloads?namespace=shop&decision=resize'

  # Print the address instead, on a port that SSH forwards
  resizectl console --no-open --port 8001`,
		Args:              command.Args(cobra.MaximumNArgs(1)),
		ValidArgsFunction: cobra.FixedCompletions(pages.Navigation(), cobra.ShellCompDirectiveNoFileComp),
		RunE:              command.Steps(o.run, o.complete),
	}
	cmd.Flags().BoolVar(&o.noOpen, "no-open", false, "print the address instead of opening it in a browser")
	cmd.Flags().IntVar(&o.port, "port", 0, "port on this machine (default: any free port)")
	return cmd
}

// complete parses the arguments.
func (o *options) complete(cmd *cobra.Command, args []string) error {
	if o.path = "/"; len(args) == 1 {
		o.path = args[0]
	}
	if o.port < 0 || o.port > 65535 {
		return command.UsageErrorf(cmd, "--port %d is no port: set it to a number from 1 to 65535, or omit it", o.port)
	}
	if !pages.Has(o.path) {
		return command.UsageErrorf(cmd, "there is no page %q: begin with one of %s", print.OneLine(o.path), strings.Join(pages.Navigation(), ", "))
	}
	return nil
}

// memoryLimit is how much memory the process takes before it collects garbage more often. Each page of a large cluster that is open needs an
// answer of about 20 MB, and the one that follows it.
const memoryLimit = 115 << 20

// run serves the pages until ctx ends, which is Ctrl-C.
func (o *options) run(ctx context.Context) error {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	server, err := o.server.Open(ctx, pages.Methods...)
	if err != nil {
		return err
	}
	defer func() { _ = server.Close() }()
	if err := answers(ctx, server); err != nil {
		return err
	}
	listeners, port, err := gate.Listen(o.port)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	g := gate.New(port, clock.RealClock{})
	site := g.Server(pages.New(ctx, server, o.out))
	site.BaseContext = func(net.Listener) context.Context { return ctx }
	for _, l := range listeners {
		go func() { cancel(site.Serve(l)) }()
	}
	defer end(site, cancel)
	forget, err := o.show(g, server.Identity())
	defer forget()
	if err != nil {
		return err
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

// end ends all streams, whose browsers are told so, and then the pages.
func end(site *http.Server, cancel context.CancelCauseFunc) {
	cancel(nil)
	ctx, done := context.WithTimeout(context.Background(), farewell)
	defer done()
	_ = site.Shutdown(ctx)
	_ = site.Close()
}

// answers returns the error of a server that does not answer. Some users may not read its state.
func answers(ctx context.Context, server *connect.Opened) error {
	return server.Ask(ctx, func(ctx context.Context, c *client.Client) error {
		_, err := c.Status(ctx)
		if client.Reason(err) == "NOT_AUTHORIZED" {
			return nil
		}
		return err
	})
}

// show opens the pages in a browser, or says where they are. forget removes what it has left for the browser, also after an error.
func (o *options) show(g *gate.Gate, id connect.Identity) (forget func(), err error) {
	of := print.OneLine(cmp.Or(id.Context, id.Server))
	login := g.Login(o.path)
	if !o.noOpen {
		forget, err := openLogin(login)
		if err == nil {
			return forget, print.Texts(o.out.Out, "The console of "+of+" opens in your browser. Ctrl-C ends it.")
		}
		if err := print.Texts(o.out.ErrOut, "note: no browser could be opened: "+print.OneLine(err.Error())); err != nil {
			return forget, err
		}
	}
	return func() {}, print.Texts(o.out.Out, fmt.Sprintf("The console of %s, with a login that works once, within a minute. Ctrl-C ends it.\n\n  %s\n", of, login))
}

// openLogin opens a login in a browser. Its file is removed when it no longer works, if forget does not do so before.
func openLogin(login string) (forget func(), err error) {
	path, err := gate.WriteLogin(login)
	if err != nil {
		return func() {}, err
	}
	forget = func() { _ = os.RemoveAll(filepath.Dir(path)) }
	if err := open(path); err != nil {
		forget()
		return func() {}, err
	}
	time.AfterFunc(gate.LoginWithin, forget)
	return forget, nil
}
