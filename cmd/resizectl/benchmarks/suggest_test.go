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

// suggesting is a server that has suggestions, and whose ratios can be changed.
func suggesting() *cmdtest.Server {
	server := cmdtest.Writable()
	server.BenchmarkScript = cmdtest.Measured()
	return server
}

func TestBenchmarkSuggest(t *testing.T) {
	address := cmdtest.Serve(t, suggesting())
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
			code, stdout, stderr := program.Shell(t.Context(), append([]string{"benchmark", "suggest", "--server", address}, tc.args...)...)
			if code != command.ExitOK || stderr != "" {
				t.Errorf("exit %d, stderr %q", code, stderr)
			}
			cmdtest.Golden(t, tc.golden, stdout)
		})
	}
}

func TestSuggest(t *testing.T) {
	t.Run("no suggestions is said", noSuggestionsIsSaid)
	t.Run("one score is not said to be sure", oneScoreIsNotSaidToBeSure)
	t.Run("what was applied and is not any more goes back", whatWasAppliedAndIsNotAnyMoreGoesBack)
	t.Run("which source decides before benchmarks is said", whichSourceDecidesBeforeBenchmarksIsSaid)
}

func noSuggestionsIsSaid(t *testing.T) {
	code, stdout, stderr := program.Shell(t.Context(), "benchmark", "suggest", "--server", cmdtest.Serve(t, &cmdtest.Server{}))
	if code != command.ExitOK || stdout != "" || stderr != "benchmarks tell nothing of any node type: \"resizectl benchmark list\" shows what was measured\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func TestHowToAccept(t *testing.T) {
	good := cmdtest.Suggestions()[2]
	was := func(change func(*workloadresizerv1.Suggestion)) *workloadresizerv1.Suggestion {
		s := proto.CloneOf(good)
		change(s)
		return s
	}
	for _, tc := range []struct {
		name, want string
		of         *workloadresizerv1.Suggestion
	}{
		{"one that is good", "To accept it:\n  resizectl benchmark accept n4", good},
		{"one that is held back", "It is held back. To accept it all the same:\n  resizectl benchmark accept e2 --force", cmdtest.Suggestions()[1]},
		{"none", "There is nothing to accept.", cmdtest.Suggestions()[0]},
		{"one that an override says", "It is accepted already.", was(func(s *workloadresizerv1.Suggestion) { s.Current.CpuPerf = s.CpuPerf })},
		{"one that another source says", "To accept it:\n  resizectl benchmark accept n4", was(func(s *workloadresizerv1.Suggestion) {
			s.Current.CpuPerf, s.Current.Provenance = s.CpuPerf, &workloadresizerv1.Provenance{Source: "benchmark"}
		})},
	} {
		if got := howToAccept("resizectl", tc.of); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func oneScoreIsNotSaidToBeSure(t *testing.T) {
	s := cmdtest.Suggestions()[2]
	s.RatioLow, s.RatioHigh = s.GetRatio(), s.GetRatio()
	if got := intervalText(s); got != print.Absent {
		t.Errorf("in the table: %q", got)
	}
	if got, want := ratioText(s), "1.123 times as fast as n2d, by too few scores to tell how sure that is"; got != want {
		t.Errorf("in words: %q, want %q", got, want)
	}
}

func TestModeInWords(t *testing.T) {
	const calmly = "apply: the benchmark source follows it calmly"
	progress := func(ratio, target float64) *workloadresizerv1.SuggestionProgress {
		return &workloadresizerv1.SuggestionProgress{Ratio: ratio, Target: target, NeededWindows: 2}
	}
	for _, tc := range []struct {
		want     string
		progress *workloadresizerv1.SuggestionProgress
	}{
		{calmly, nil},
		{calmly + ", and rests at 1.1", progress(1.1, 1.1)},
		{calmly + ", and is at 1.1, on its way to 1.2", progress(1.1, 1.2)},
		{calmly + ", and says nothing yet, on its way to 1.2", progress(0, 1.2)},
		{calmly + ", and says nothing yet", progress(0, 0)},
	} {
		s := &workloadresizerv1.Suggestion{Mode: workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_APPLY, Progress: tc.progress}
		if got := modeInWords(s); got != tc.want {
			t.Errorf("%v: %q, want %q", tc.progress, got, tc.want)
		}
	}
}

func whatWasAppliedAndIsNotAnyMoreGoesBack(t *testing.T) {
	const want = "observe: the suggestion is only shown; the benchmark source goes back to what others say, and is at 1.1, on its way to 1"
	s := &workloadresizerv1.Suggestion{
		Mode:     workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_OBSERVE,
		Progress: &workloadresizerv1.SuggestionProgress{Ratio: 1.1, Target: 1},
	}
	if got := modeInWords(s); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// To follow measurements is to no avail where another source comes first.
func whichSourceDecidesBeforeBenchmarksIsSaid(t *testing.T) {
	for _, tc := range []struct {
		name, source string
		ratio        float64
		want         string
	}{
		{"the configuration", "configmap", 1.1, "; configmap decides before it"},
		{"none", benchmarkSource, 1.1, ""},
		{"nothing is said yet", "configmap", 0, ""},
		{"nobody names the node type", "", 1.1, ""},
	} {
		s := &workloadresizerv1.Suggestion{
			Mode:     workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_APPLY,
			Current:  &workloadresizerv1.Ratio{Provenance: &workloadresizerv1.Provenance{Source: tc.source}},
			Progress: &workloadresizerv1.SuggestionProgress{Ratio: tc.ratio, Target: 1.2},
		}
		if got := modeInWords(s); !strings.HasSuffix(got, "on its way to 1.2"+tc.want) {
			t.Errorf("%s: %q, want %q at the end", tc.name, got, tc.want)
		}
	}
}
