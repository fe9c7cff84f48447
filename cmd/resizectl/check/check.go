package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

type options struct {
	print.Output
	server *connect.Connection
	pre    bool
}

// NewCommand returns check.
func NewCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &options{Output: out, server: server}
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check that the cluster can run workload-resizer, and that the server works",
		Long: `Check that the cluster can run workload-resizer, and that the server works.

Before the installation, --pre checks the versions of the API server and of the
kubelets, the labels of the nodes, your rights to install, and what in the cluster
resizes pods already. Afterward, check also looks at what is installed, and asks the
server how it is, and what you may do.

Each line is ok, a warning (it works, but not for everything, or not for long), or a
failure. An arrow below it shows what to do. If you may not see something, that is a
warning.

The cluster is the one of the kubeconfig, as for kubectl (--kubeconfig, --context), and
its server is checked, unless you set the address of another one with --server.
--timeout limits each request. Nothing is changed. The exit code is

  0  there is no failure; there may be warnings
  1  at least one check failed
  2  the checks could not be made`,
		Example: `  # Check a cluster before the installation
  resizectl check --pre

  # Check the server of the current context, as a ServiceAccount that may read everything
  resizectl check --service-account-token workload-resizer-system/workload-resizer-viewer

  # Print only what is wrong
  resizectl check -o json | jq -r '.groups[].checks[] | select(.level != "ok") | .message'`,
		Args: command.Args(cobra.NoArgs),
		RunE: command.Steps(o.run),
	}
	cmd.Flags().BoolVar(&o.pre, "pre", false, "check only what the installation needs, before there is a server")
	command.AddOutputFlag(cmd, &o.Format)
	return cmd
}

// phase is when checks make sense.
type phase int

const (
	always phase = iota
	// before the installation, with --pre.
	before
	// after the installation.
	after
	// withServer: if there is a server, or at least its Service.
	withServer
	// inCluster: if the server's Service is in the cluster.
	inCluster
	// answered: if the server answers.
	answered
)

var groups = []struct {
	name string
	phase
	run func(*subject, context.Context) []Result
}{
	{"Kubernetes", always, (*subject).kubernetes},
	{"Nodes", always, (*subject).nodesGroup},
	{"Other autoscalers", always, (*subject).autoscalers},
	{"Metrics", always, (*subject).metrics},
	{"Your rights", before, (*subject).installer},
	{"Installation", after, (*subject).installation},
	{"Rights of the server", inCluster, (*subject).serverRights},
	{"Admission policies", withServer, (*subject).policies},
	{"Configuration", always, (*subject).configuration},
	{"Server", withServer, (*subject).serverGroup},
	{"Resizes", answered, (*subject).failures},
	{"Your rights", answered, (*subject).caller},
	{"Certificates", inCluster, (*subject).certificates},
}

// wants reports whether to make the checks of a phase.
func (o *options) wants(p phase, s *subject) bool {
	switch p {
	case before:
		return o.pre
	case after:
		return !o.pre
	case withServer:
		return !o.pre && (s.status != nil || s.deployed != nil)
	case inCluster:
		return !o.pre && s.deployed != nil
	case answered:
		return !o.pre && s.status != nil
	}
	return true
}

func (o *options) run(ctx context.Context) error {
	o.server.PreferCluster()
	s, err := newSubject(o.server)
	if err != nil {
		return err
	}
	if _, err := s.kube.Discovery().ServerVersionWithContext(ctx); err != nil {
		if timeout := (net.Error)(nil); errors.As(err, &timeout) && timeout.Timeout() && ctx.Err() == nil {
			return o.server.TooSlow(s.address)
		}
		if failed := (*url.Error)(nil); errors.As(err, &failed) {
			err = failed.Err // The rest is the path of the request.
		}
		return fmt.Errorf("reach the API server %s: %w; --kubeconfig and --context select the cluster", s.address, err)
	}
	s.askCluster(ctx)
	if !o.pre {
		s.askServer(ctx)
		s.askService(ctx)
	}
	var r report
	for _, g := range groups {
		if !o.wants(g.phase, s) {
			continue
		}
		found := Group{Name: g.name, Checks: g.run(s, ctx)}
		if err := ctx.Err(); err != nil {
			return err // Otherwise, the rest of the report would say that nothing can be checked.
		}
		for i := range found.Checks {
			found.Checks[i].Remedy = o.Commands(found.Checks[i].Remedy)
		}
		r.Groups = append(r.Groups, found)
		if !o.Format.IsDocument() {
			if err := printGroup(o.Out, o.Painter(), &found); err != nil {
				return err
			}
		}
	}
	_, r.Level = worst(r.Groups)
	if o.Format.IsDocument() {
		err = o.Value(&r)
	} else {
		err = printSummary(o.Out, o.Painter(), r.Groups)
	}
	if err == nil && r.Level == Failure {
		return command.ErrCheckFailed
	}
	return err
}

// Group has the results of the checks about one subject.
type Group struct {
	Name   string   `json:"group"`
	Checks []Result `json:"checks"`
}

// report is everything that was found.
type report struct {
	// Level is the worst of all results.
	Level  Level   `json:"level"`
	Groups []Group `json:"groups"`
}

// worst returns the number of results by level, and the worst level.
func worst(groups []Group) (counts map[Level]int, level Level) {
	counts, level = map[Level]int{}, OK
	for _, group := range groups {
		for _, result := range group.Checks {
			counts[result.Level]++
		}
	}
	switch {
	case counts[Failure] > 0:
		level = Failure
	case counts[Warning] > 0:
		level = Warning
	}
	return counts, level
}

var styles = map[Level]print.Style{OK: print.Freed, Warning: print.Notable, Failure: print.Red}

// width is the width of the longest level.
const width = len(Failure)

// printGroup prints a line per check, and below it what to do.
func printGroup(w io.Writer, p print.Painter, g *Group) error {
	var b strings.Builder
	b.WriteString(g.Name + "\n")
	for _, result := range g.Checks {
		level := p.Paint(styles[result.Level], fmt.Sprintf("%-*s", width, result.Level))
		fmt.Fprintf(&b, "  %s  %s\n", level, print.OneLine(result.Message))
		if result.Remedy != "" {
			fmt.Fprintf(&b, "  %-*s  → %s\n", width, "", print.OneLine(result.Remedy))
		}
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

// printSummary prints how many checks there were by level.
func printSummary(w io.Writer, p print.Painter, groups []Group) error {
	counts, level := worst(groups)
	text := fmt.Sprintf("%s, %s, %d ok", print.CountOf(int64(counts[Failure]), "failure"), print.CountOf(int64(counts[Warning]), "warning"), counts[OK])
	return print.Texts(w, p.Paint(styles[level], text))
}

// Level is the outcome of a check.
type Level string

const (
	// OK: nothing needs to be done.
	OK Level = "ok"
	// Warning: it works, but not for everything, or not for long.
	Warning Level = "warning"
	// Failure: it does not work.
	Failure Level = "failure"
)

// Result is what a check found.
type Result struct {
	// Check names the check, for scripts.
	Check   string `json:"check"`
	Level   Level  `json:"level"`
	Message string `json:"message"`
	// Remedy is what to do, a command or a page of the documentation; empty if all is well.
	Remedy string `json:"remedy,omitempty"`
}

func ok(check, format string, a ...any) Result {
	return Result{Check: check, Level: OK, Message: fmt.Sprintf(format, a...)}
}

func warning(check, remedy, format string, a ...any) Result {
	return Result{Check: check, Level: Warning, Message: fmt.Sprintf(format, a...), Remedy: remedy}
}

func failure(check, remedy, format string, a ...any) Result {
	return Result{Check: check, Level: Failure, Message: fmt.Sprintf(format, a...), Remedy: remedy}
}

// unknown is the result of a check that could not be made, so nothing may be wrong.
func unknown(check, what string, err error) Result {
	return warning(check, "ask an administrator of the cluster to run this command, or for the right", "%s: not checked: %v", what, err)
}

// aboutReason returns what to do about a reason, from the table that explain and KNOWN_ISSUES.md
// use, too.
func aboutReason(reason contract.Reason, names map[string]string) string {
	info, _ := reason.Info()
	return print.Remedy(info.Remedy, names)
}

// mostNames is how many objects a message names.
const mostNames = 3

// some returns the first names, and how many there are besides.
func some(names []string) string { return print.First(names, mostNames) }

// count returns e.g. "1 node" or "2 nodes".
func count(n int, what string) string { return print.CountOf(int64(n), what) }
