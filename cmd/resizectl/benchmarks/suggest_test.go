package benchmarks

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func TestBenchmarkSuggest(t *testing.T) {
	address := suggesting().Serve(t)
	for _, tc := range []struct {
		golden string
		args   []string
	}{
		{"suggestions.table", nil},
		{"suggestions.wide", []string{"-o", "wide"}},
		{"suggestions.json", []string{"-o", "json"}},
		{"suggestions.yaml", []string{"-o", "yaml"}},
		{"suggestions.color", []string{"--color", "always"}},
		{"suggestion.table", []string{"n4"}},
		{"suggestion.wide", []string{"n4", "-o", "wide"}},
		{"suggestion.json", []string{"n4", "-o", "json"}},
		{"suggestion.yaml", []string{"n4", "-o", "yaml"}},
		{"suggestion.color", []string{"n4", "--color", "always"}},
		{"suggestion-held.table", []string{"e2"}},
		{"suggestion-none.table", []string{"c3"}},
		{"suggestion-model.table", []string{"n4@Intel-6-207"}},
	} {
		t.Run(tc.golden, func(t *testing.T) {
			code, stdout, stderr := program.Shell(t.Context(), append([]string{"ratios", "suggest", "--server", address}, tc.args...)...)
			if code != command.ExitOK || stderr != "" {
				t.Errorf("exit %d, stderr %q", code, stderr)
			}
			cmdtest.Golden(t, tc.golden, stdout)
		})
	}
}

func TestSuggest(t *testing.T) {
	t.Run("says that there are no suggestions", saysThatThereAreNoSuggestions)
	t.Run("completes node types", completesNodeTypes)
	t.Run("shows no interval for a single score", showsNoIntervalForASingleScore)
	t.Run("shows how a ratio that is no longer applied returns", showsHowARatioThatIsNoLongerAppliedReturns)
	t.Run("does not claim to follow a suggestion that is held back", doesNotClaimToFollowASuggestionThatIsHeldBack)
	t.Run("names the source that takes precedence", namesTheSourceThatTakesPrecedence)
}

// The command is one of ratios, but the node types are completed as those of benchmarks are.
func completesNodeTypes(t *testing.T) {
	_, stdout, _ := program.Shell(t.Context(), "__complete", "ratios", "suggest", "--server", suggesting().Serve(t), "")
	if want := "c3\t1.3 → -\ne2\t- → 0.8\nn4\t1.08 → 1.123\nn4@Intel-6-207\t- → 1.13\n"; !strings.HasPrefix(stdout, want) {
		t.Errorf("%q, want %q", stdout, want)
	}
	code, _, stderr := program.Shell(t.Context(), "ratios", "suggest", "")
	if want := "error: the node type is empty; omit it for all of them; see \"resizectl ratios suggest --help\"\n"; code != command.ExitError || stderr != want {
		t.Errorf("exit %d, %q, want %q", code, stderr, want)
	}
}

func saysThatThereAreNoSuggestions(t *testing.T) {
	code, stdout, stderr := program.Shell(t.Context(), "ratios", "suggest", "--server", cmdtest.Answering().Serve(t))
	if code != command.ExitOK || stdout != "" || stderr != "no suggestions for any node type: \"resizectl benchmark list\" shows the measurements of benchmarks, and "+
		"\"resizectl usage sources\" whether usage is collected, which production needs\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func TestHowToAccept(t *testing.T) {
	good := suggestions()[2]
	was := func(change func(*workloadresizerv1.Suggestion)) *workloadresizerv1.Suggestion {
		s := proto.CloneOf(good)
		change(s)
		return s
	}
	for _, tc := range []struct {
		name, want string
		of         *workloadresizerv1.Suggestion
	}{
		{"a good suggestion", "To accept the suggestion of benchmarks:\n  resizectl benchmark accept n4", good},
		{"a suggestion that is held back", "The suggestion of benchmarks is held back. To accept it anyway:\n  resizectl benchmark accept e2 --force", suggestions()[1]},
		{"no suggestion", "There is nothing to accept from benchmarks.", suggestions()[0]},
		{"a suggestion that an override has", "The suggestion of benchmarks is already accepted.", was(func(s *workloadresizerv1.Suggestion) { s.Current.CpuPerf = s.GetCpuPerf() })},
		{"a suggestion that another source has", "To accept the suggestion of benchmarks:\n  resizectl benchmark accept n4", was(func(s *workloadresizerv1.Suggestion) {
			s.Current.CpuPerf, s.Current.Provenance = s.GetCpuPerf(), &workloadresizerv1.Provenance{Source: "benchmark"}
		})},
	} {
		if got := howToAccept(tc.of); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func showsNoIntervalForASingleScore(t *testing.T) {
	s := suggestions()[2]
	s.Interval = nil
	if got := intervalText(s); got != print.Absent {
		t.Errorf("in the table: %q", got)
	}
	if got, want := ratioText(s), "1.123 times as fast as n2d, from too few scores for a confidence interval"; got != want {
		t.Errorf("in words: %q, want %q", got, want)
	}
}

func TestModeInWords(t *testing.T) {
	const gradually = "apply: the benchmark source follows it gradually"
	progress := func(ratio *float64, target float64) *workloadresizerv1.SuggestionProgress {
		return &workloadresizerv1.SuggestionProgress{Ratio: ratio, Target: target, NeededWindows: 2}
	}
	for _, tc := range []struct {
		want     string
		progress *workloadresizerv1.SuggestionProgress
	}{
		{gradually, nil},
		{gradually + ", and stays at 1.1", progress(new(1.1), 1.1)},
		{gradually + ", and is at 1.1, moving toward 1.2", progress(new(1.1), 1.2)},
		{gradually + ", and has no ratio yet, moving toward 1.2", progress(nil, 1.2)},
		{gradually + ", and has no ratio yet", progress(nil, 0)},
	} {
		s := &workloadresizerv1.Suggestion{Mode: workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_APPLY, Progress: tc.progress}
		if got := modeInWords(s); got != tc.want {
			t.Errorf("%v: %q, want %q", tc.progress, got, tc.want)
		}
	}
}

// A user who sets a node type to apply waits for something to happen.
func doesNotClaimToFollowASuggestionThatIsHeldBack(t *testing.T) {
	const want = "apply: the benchmark source follows it only once it is no longer held back"
	s := &workloadresizerv1.Suggestion{
		Mode:  workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_APPLY,
		Holds: []*workloadresizerv1.SuggestionHold{{Code: "IntervalTooWide"}},
	}
	if got := modeInWords(s); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func showsHowARatioThatIsNoLongerAppliedReturns(t *testing.T) {
	const want = "observe: the suggestion is only shown; the benchmark source returns to the other sources, and is at 1.1, moving toward 1"
	s := &workloadresizerv1.Suggestion{
		Mode:     workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_OBSERVE,
		Progress: &workloadresizerv1.SuggestionProgress{Ratio: new(1.1), Target: 1},
	}
	if got := modeInWords(s); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Following measurements has no effect if another source takes precedence.
func namesTheSourceThatTakesPrecedence(t *testing.T) {
	for _, tc := range []struct {
		name, source string
		ratio        *float64
		want         string
	}{
		{"the configuration", "configmap", new(1.1), "; configmap takes precedence over it"},
		{"no other source", benchmarkSource, new(1.1), ""},
		{"no ratio yet", "configmap", nil, ""},
		{"no source for the node type", "", new(1.1), ""},
	} {
		s := &workloadresizerv1.Suggestion{
			Mode:     workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_APPLY,
			Current:  &workloadresizerv1.Ratio{Provenance: &workloadresizerv1.Provenance{Source: tc.source}},
			Progress: &workloadresizerv1.SuggestionProgress{Ratio: tc.ratio, Target: 1.2},
		}
		if got := modeInWords(s); !strings.HasSuffix(got, "moving toward 1.2"+tc.want) {
			t.Errorf("%s: %q, want %q at the end", tc.name, got, tc.want)
		}
	}
}
