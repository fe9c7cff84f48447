package cmdtest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
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
	if !strings.Contains(out.shown.String(), seen) {
		t.Errorf("%q ended without %q", args, seen)
	}
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

// terminal is a pseudoterminal of the kernel. person reads what is written to it.
type terminal struct {
	*os.File
	person *os.File
}

// OpenTerminal returns a terminal that is closed after the test.
func OpenTerminal(t *testing.T) *terminal {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = person.Close() })
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	// Line ends must arrive as they were written.
	if _, err := term.MakeRaw(int(program.Fd())); err != nil {
		t.Fatal(err)
	}
	return &terminal{program, person}
}

// SetColumns sets the width of the terminal.
func (s *terminal) SetColumns(t *testing.T, columns uint16) {
	t.Helper()
	if err := unix.IoctlSetWinsize(int(s.person.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		t.Fatal(err)
	}
}

// Typed returns the program's side of the terminal after a user typed text.
func (s *terminal) Typed(t *testing.T, text string) *os.File {
	t.Helper()
	if _, err := s.person.WriteString(text); err != nil {
		t.Fatal(err)
	}
	return s.File
}

// Shown returns what was written so far.
func (s *terminal) Shown(t *testing.T) string {
	t.Helper()
	const end = "\x00"
	if _, err := s.WriteString(end); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for buffer := make([]byte, 4096); ; {
		n, err := s.person.Read(buffer)
		all.Write(buffer[:n])
		if text, ok := strings.CutSuffix(all.String(), end); ok {
			return text
		}
		if err != nil {
			t.Fatalf("read the terminal: %v after %q", err, all.String())
		}
	}
}
