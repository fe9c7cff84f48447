package cmdtest

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// Program runs a command line, and returns its exit code.
type Program func(ctx context.Context, streams genericiooptions.IOStreams, args []string) int

// testServer selects the server of a test, whose address is another one each time.
var testServer = regexp.MustCompile(` --server='127\.0\.0\.1:\d+'`)

// ProgramOf returns resizectl with some of its commands.
func ProgramOf(commands func(print.Output, *connect.Connection) []*cobra.Command) Program {
	return func(ctx context.Context, streams genericiooptions.IOStreams, args []string) int {
		color := print.ColorAuto
		root := command.NewRoot(streams)
		server := connect.New(root, streams.ErrOut, "test", false)
		command.AddColorFlag(root, &color)
		written := func(text string) string {
			return testServer.ReplaceAllString(server.Commands(text, "resizectl"), "")
		}
		root.AddCommand(commands(print.Output{IOStreams: streams, Color: &color, Now: now, Commands: written}, server)...)
		root.SetArgs(args)
		err := root.ExecuteContext(ctx)
		return command.Report(ctx, streams.ErrOut, color.Painter(streams.ErrOut), err)
	}
}

// now is the time in the tests, five hours after most times of the scripted answers.
func now() time.Time { return Since.Add(5 * time.Hour) }

// ProgramWith returns resizectl with one of its commands.
func ProgramWith(cmd func(print.Output, *connect.Connection) *cobra.Command) Program {
	return ProgramOf(func(out print.Output, server *connect.Connection) []*cobra.Command {
		return []*cobra.Command{cmd(out, server)}
	})
}

// Shell runs a command line and returns what a shell would see.
func (p Program) Shell(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, errOut bytes.Buffer
	// cobra replaces nil arguments with the arguments of the test binary.
	args = append([]string{}, args...)
	code = p(ctx, genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &errOut}, args)
	return code, out.String(), errOut.String()
}

// WatchUntil runs a watch until seen is in its output.
func (p Program) WatchUntil(t *testing.T, seen string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, errOut := &until{seen: seen, cancel: cancel}, &bytes.Buffer{}
	code = p(ctx, genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: out, ErrOut: errOut}, args)
	return code, out.shown.String(), errOut.String()
}

// until is a user who presses Ctrl-C after seeing enough.
type until struct {
	shown  bytes.Buffer
	seen   string
	cancel context.CancelFunc
}

// Write implements io.Writer.
func (u *until) Write(p []byte) (int, error) {
	n, err := u.shown.Write(p)
	if strings.Contains(u.shown.String(), u.seen) {
		u.cancel()
	}
	return n, err
}
