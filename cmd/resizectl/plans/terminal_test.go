package plans

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func TestTerminal(t *testing.T) {
	t.Run("uses colors on terminals", usesColorsOnTerminals)
	t.Run("shows the progress of long previews", showsTheProgressOfLongPreviews)
	t.Run("wraps steps for the terminal", wrapsStepsForTheTerminal)
}

func usesColorsOnTerminals(t *testing.T) {
	address := cmdtest.Answering(cmdtest.EachDecision()).Serve(t)
	for _, tc := range []struct {
		name     string
		variable map[string]string
		args     []string
		want     bool
	}{
		{"uses colors on a terminal", nil, nil, true},
		{"uses none with NO_COLOR", map[string]string{"NO_COLOR": "1"}, nil, false},
		{"uses none on a terminal without colors", map[string]string{"TERM": "dumb"}, nil, false},
		{"uses none with --color=never", nil, []string{"--color=never"}, false},
		{"uses colors with --color=always in spite of NO_COLOR", map[string]string{"NO_COLOR": "1"}, []string{"--color=always"}, true},
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
			screen := cmdtest.OpenTerminal(t)
			streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: screen.File, ErrOut: &bytes.Buffer{}}
			if code := program(t.Context(), streams, append([]string{"plan", "-A", "--server", address}, tc.args...)); code != command.ExitDifferences {
				t.Fatalf("exit %d", code)
			}
			if shown := screen.Shown(t); strings.Contains(shown, "\x1b") != tc.want || !strings.Contains(shown, "1 → 800m") {
				t.Errorf("want colors %v, got %q", tc.want, shown)
			}
		})
	}
}

// A long preview shows its progress, and then removes it.
func showsTheProgressOfLongPreviews(t *testing.T) {
	progress := func(done int64) *workloadresizerv1.PreviewPlansResponse {
		return &workloadresizerv1.PreviewPlansResponse{Result: &workloadresizerv1.PreviewPlansResponse_Progress{Progress: &workloadresizerv1.PlanProgress{Done: done, Total: 4}}}
	}
	address := cmdtest.Answering(previews(func(*workloadresizerv1.PreviewPlansRequest) []*workloadresizerv1.PreviewPlansResponse {
		return []*workloadresizerv1.PreviewPlansResponse{
			progress(0), cmdtest.PlanMessage(cmdtest.Web()), progress(1), progress(3),
			cmdtest.SummaryMessage(&workloadresizerv1.PlanSummary{Pods: 4, Resize: 1, Aligned: 1, Skip: 2}),
		}
	})).Serve(t)
	const shown = "\r\x1b[Kplanning [#######.......................]  25% of 4 pods" +
		"\r\x1b[Kplanning [######################........]  75% of 4 pods\r\x1b[K"

	t.Run("on standard error, if that is a terminal", func(t *testing.T) {
		screen, out := cmdtest.OpenTerminal(t), &bytes.Buffer{}
		program(t.Context(), genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: out, ErrOut: screen.File}, []string{"plan", "-A", "-o", "json", "--server", address})
		if got := screen.Shown(t); got != shown {
			t.Errorf("shown is %q, want %q", got, shown)
		}
		if strings.Contains(out.String(), "\x1b") {
			t.Errorf("standard output has escapes: %q", out.String())
		}
	})
	t.Run("removed before the table on the same terminal", func(t *testing.T) {
		screen := cmdtest.OpenTerminal(t)
		program(t.Context(), genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: screen.File, ErrOut: screen.File}, []string{"plan", "-A", "--color=never", "--server", address})
		if got := screen.Shown(t); !strings.HasPrefix(got, shown+"NAMESPACE") {
			t.Errorf("shown is %q", got)
		}
	})
	t.Run("not between the parts of a document on the same terminal", func(t *testing.T) {
		screen := cmdtest.OpenTerminal(t)
		program(t.Context(), genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: screen.File, ErrOut: screen.File}, []string{"plan", "-A", "-o", "json", "--server", address})
		if got := screen.Shown(t); strings.Contains(got, "\x1b") || !strings.HasPrefix(got, "{\n") {
			t.Errorf("shown is %q", got)
		}
	})
	t.Run("not in a file", func(t *testing.T) {
		if _, _, stderr := program.Shell(t.Context(), "plan", "-A", "--server", address); stderr != "" {
			t.Errorf("standard error has %q", stderr)
		}
	})
}

// Steps are as wide as the terminal at most, and whole lines elsewhere.
func wrapsStepsForTheTerminal(t *testing.T) {
	address := cmdtest.Answering(cmdtest.EachDecision()).Serve(t)
	explain := func(columns uint16) string {
		screen := cmdtest.OpenTerminal(t)
		screen.SetColumns(t, columns)
		streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: screen.File, ErrOut: &bytes.Buffer{}}
		if code := program(t.Context(), streams, []string{"explain", "api-0", "--color=never", "--server", address}); code != 0 {
			t.Fatalf("exit %d", code)
		}
		return screen.Shown(t)
	}
	whole := explain(1000)
	for _, columns := range []uint16{80, 100} {
		shown := explain(columns)
		for line := range strings.Lines(shown) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > int(columns) {
				t.Errorf("a line has %d columns of %d: %q", n, columns, line)
			}
		}
		if unwrapped := strings.ReplaceAll(shown, "\n    ", " "); unwrapped != whole || shown == whole {
			t.Errorf("at %d columns, explain shows\n%s\nnot the words of\n%s", columns, shown, whole)
		}
	}
}
