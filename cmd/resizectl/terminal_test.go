package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// terminal is a real one of the kernel's: what is written to it is read by person.
type terminal struct {
	*os.File
	person *os.File
}

func openTerminal(t *testing.T) *terminal {
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
	// Line ends are to come back as they were written.
	if _, err := term.MakeRaw(int(program.Fd())); err != nil {
		t.Fatal(err)
	}
	return &terminal{program, person}
}

// typed is the program's side after a person has typed something.
func (s *terminal) typed(t *testing.T, text string) *os.File {
	t.Helper()
	if _, err := s.person.WriteString(text); err != nil {
		t.Fatal(err)
	}
	return s.File
}

// shown is what was written until now.
func (s *terminal) shown(t *testing.T) string {
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

func TestColorsAreForTerminals(t *testing.T) {
	address := serve(t, cluster())
	for _, tc := range []struct {
		name     string
		variable map[string]string
		args     []string
		want     bool
	}{
		{"a terminal has colours", nil, nil, true},
		{"unless NO_COLOR is set", map[string]string{"NO_COLOR": "1"}, nil, false},
		{"or it cannot show them", map[string]string{"TERM": "dumb"}, nil, false},
		{"or nobody wants them", nil, []string{"--color=never"}, false},
		{"who asks for them has them in spite of NO_COLOR", map[string]string{"NO_COLOR": "1"}, []string{"--color=always"}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv("TERM", "xterm")
			t.Setenv("NO_COLOR", "")
			if err := os.Unsetenv("NO_COLOR"); err != nil {
				t.Fatal(err)
			}
			for name, value := range tc.variable {
				t.Setenv(name, value)
			}
			screen := openTerminal(t)
			streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: screen.File, ErrOut: &bytes.Buffer{}}
			if code := run(t.Context(), streams, append([]string{"plan", "-A", "--server", address}, tc.args...)); code != command.ExitDifferences {
				t.Fatalf("exit %d", code)
			}
			if shown := screen.shown(t); strings.Contains(shown, "\x1b") != tc.want || !strings.Contains(shown, "1 → 800m") {
				t.Errorf("want colours %v, got %q", tc.want, shown)
			}
		})
	}
}

// A long preview shows how far it is, and nothing of that stays.
func TestProgressOfLongPreviews(t *testing.T) {
	server := cluster()
	server.resizing.plans = func(*workloadresizerv1.PreviewPlansRequest) []*workloadresizerv1.PreviewPlansResponse {
		return []*workloadresizerv1.PreviewPlansResponse{
			progressMessage(0, 4),
			{Result: &workloadresizerv1.PreviewPlansResponse_Plan{Plan: web()}},
			progressMessage(1, 4), progressMessage(3, 4),
			summaryMessage(server.summary),
		}
	}
	address := serve(t, server)
	const shown = "\r\x1b[Kplanning [#######.......................]  25% of 4 pods" +
		"\r\x1b[Kplanning [######################........]  75% of 4 pods\r\x1b[K"

	t.Run("on standard error, if that is a terminal", func(t *testing.T) {
		screen, out := openTerminal(t), &bytes.Buffer{}
		run(t.Context(), genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: out, ErrOut: screen.File}, []string{"plan", "-A", "-o", "json", "--server", address})
		if got := screen.shown(t); got != shown {
			t.Errorf("shown is %q, want %q", got, shown)
		}
		if strings.Contains(out.String(), "\x1b") {
			t.Errorf("standard output has escapes: %q", out.String())
		}
	})
	t.Run("it is gone before the table comes on the same terminal", func(t *testing.T) {
		screen := openTerminal(t)
		run(t.Context(), genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: screen.File, ErrOut: screen.File}, []string{"plan", "-A", "--color=never", "--server", address})
		if got := screen.shown(t); !strings.HasPrefix(got, shown+"NAMESPACE") {
			t.Errorf("shown is %q", got)
		}
	})
	t.Run("not among the parts of a document on the same terminal", func(t *testing.T) {
		screen := openTerminal(t)
		run(t.Context(), genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: screen.File, ErrOut: screen.File}, []string{"plan", "-A", "-o", "json", "--server", address})
		if got := screen.shown(t); strings.Contains(got, "\x1b") || !strings.HasPrefix(got, "{\n") {
			t.Errorf("shown is %q", got)
		}
	})
	t.Run("not in a file", func(t *testing.T) {
		if _, _, stderr := resizectl(t.Context(), "plan", "-A", "--server", address); stderr != "" {
			t.Errorf("standard error has %q", stderr)
		}
	})
}
