package console

import (
	"html"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// TestRatio checks what the page of the nodes of a type shows of its ratio: what each source has and what benchmarks suggest, on one scale.
func TestRatio(t *testing.T) {
	suggested := func(nodeType string) *workloadresizerv1.Suggestion {
		return &workloadresizerv1.Suggestion{
			NodeType: nodeType, BaselineNodeType: "n2d", Ratio: new(1.2), CpuPerf: new(1.2), MemoryPerf: new(1.0), Samples: 12, Machines: 3,
			Interval: &workloadresizerv1.RatioInterval{Low: 1.1, High: 1.4, Confidence: 0.95},
			Holds:    []*workloadresizerv1.SuggestionHold{{Code: "TooFewMachines", Message: hostile}},
			Parts:    []*workloadresizerv1.SuggestionPart{{Benchmark: "compress", Version: "2", Ratio: 1.0, Weight: 1, Samples: 12, Machines: 3}},
			Models:   []*workloadresizerv1.SuggestionModel{{CpuModel: "Intel-6-79", Ratio: new(1.2), Machines: 3}},
		}
	}
	wide := suggested("wide") // An interval next to which the number would be nothing.
	wide.Interval = &workloadresizerv1.RatioInterval{Low: 0.1, High: 34, Confidence: 0.95}
	server := cmdtest.Answering(scripted(), cmdtest.Returns(&workloadresizerv1.ListSuggestionsResponse{Suggestions: []*workloadresizerv1.Suggestion{suggested("n4"), suggested(hostile), wide}}))
	r := start(t, server.Serve(t))
	for _, tc := range []struct {
		nodeType   string
		has, lacks []string
	}{
		{"n4", []string{
			"How fast n4 is", "Each dot shows how many times as fast as n2d the CPU is.",
			`file (in effect, unless a rule has another ratio)</th>`, "there, unless a rule has others.", "overrides[0] (critical)", "podLabels.env.test", "suggested by benchmarks, held back", "1.2 (1.1 to 1.4)",
			`<rect x="83`, `<circle cx="160`, // 1.1 and 1.2 on a scale from 1, as the baseline has it, to 1.4.
			`<line class="one" x1="6" y1="0"`, "the true number is between the ends of the bar in 95 of 100 cases", "<b>In short:</b> Nothing is certain enough yet",
			"TooFewMachines", "What each benchmark measured", "CPU models", "12 samples from 3 machines",
			`href="/plans?plan=1&ratios=n4%3D1.2%2F1"`, "resizectl ratios suggest n4", "resizectl benchmark accept n4", "resizectl ratios set n4=1.25/1",
		}, []string{"With an arrow", "<path"}},
		{hostile, []string{"suggested by benchmarks", "What it would change now"}, []string{"(in effect"}},
		{"n2d", []string{"It is the baseline", "resizectl ratios get n2d"}, []string{"ratios suggest", "benchmark accept"}},
		{"x9", []string{"No source has a ratio for it.", "Neither benchmarks nor production suggest a ratio for it.", "resizectl ratios set x9=1/1 --create"}, nil},
		{"wide", []string{`<rect x="6"`, `<path d="M0 8l6-4v8z">`, `<path d="M320 8l-6-4v8z">`, "With an arrow, it goes on there."}, nil},
		{"", nil, []string{"how many times as fast"}},
	} {
		_, body := r.get("/nodes?" + url.Values{"type": {tc.nodeType}}.Encode())
		body = html.UnescapeString(body)
		for _, want := range tc.has {
			if !strings.Contains(body, want) {
				t.Errorf("type %s: there is no %q:\n%s", tc.nodeType, want, body)
			}
		}
		for _, no := range tc.lacks {
			if strings.Contains(body, no) {
				t.Errorf("type %s: there is %q:\n%s", tc.nodeType, no, body)
			}
		}
	}
}

// TestSuggestionsOfAType checks that suggestions are read for the page that shows them, and for no other one.
func TestSuggestionsOfAType(t *testing.T) {
	var lists atomic.Int64
	r := start(t, cmdtest.Answering(scripted(), cmdtest.On(func(*workloadresizerv1.ListSuggestionsRequest) (*workloadresizerv1.ListSuggestionsResponse, error) {
		lists.Add(1)
		return &workloadresizerv1.ListSuggestionsResponse{}, nil
	})).Serve(t))
	if r.get("/nodes"); lists.Load() != 0 {
		t.Error("the page of all nodes reads suggestions")
	}
	if r.get("/nodes?type=n4"); lists.Load() == 0 {
		t.Error("the page of a type reads no suggestions")
	}
}

// TestRatioRefused checks that nodes and ratios are shown even if suggestions are not.
func TestRatioRefused(t *testing.T) {
	server := cmdtest.Answering(scripted(), cmdtest.Fails("ListSuggestions", cmdtest.WithReason(codes.PermissionDenied, "PERMISSION_DENIED", "you may not see it")))
	_, body := start(t, server.Serve(t)).get("/nodes?type=n4")
	if !strings.Contains(body, "you may not see it") || !strings.Contains(body, "(in effect,") {
		t.Errorf("without suggestions:\n%s", body)
	}
	server = cmdtest.Answering(scripted(), cmdtest.Fails("ListRatios", cmdtest.WithReason(codes.PermissionDenied, "PERMISSION_DENIED", "you may not see it")))
	_, body = start(t, server.Serve(t)).get("/nodes?type=n4")
	if !strings.Contains(body, "you may not see it") || strings.Contains(body, "No source has a ratio") || strings.Contains(body, "ratios set") {
		t.Errorf("without ratios:\n%s", body)
	}
	server = cmdtest.Answering(scripted(), cmdtest.Table(&workloadresizerv1.ListRatiosResponse{Ratios: []*workloadresizerv1.Ratio{{NodeType: "c9", CpuPerf: 1.2, MemoryPerf: 1}}}))
	_, body = start(t, server.Serve(t)).get("/nodes?type=c9")
	if !strings.Contains(body, "Its speed cannot be compared: the baseline has no ratio.") || strings.Contains(body, "No source has a ratio") {
		t.Errorf("without a baseline:\n%s", body)
	}
}

// TestOverriddenRatio checks that the page of a type says how an override is removed, where there is one, and what that would change.
func TestOverriddenRatio(t *testing.T) {
	for _, tc := range []struct {
		ratios *workloadresizerv1.ListRatiosResponse
		want   bool
	}{{cmdtest.Overridden(), true}, {cmdtest.Ratios(), false}} {
		_, body := start(t, cmdtest.Answering(scripted(), cmdtest.Returns(tc.ratios)).Serve(t)).get("/nodes?type=n4")
		if got := strings.Contains(body, "resizectl ratios delete n4"); got != tc.want {
			t.Errorf("it says how to remove an override: %t, want %t:\n%s", got, tc.want, body)
		}
		if got := strings.Contains(html.UnescapeString(body), `<a href="/plans?plan=1&ratios=n4%3D1.25%2F1">What would change without the override</a>`); got != tc.want {
			t.Errorf("it leads to the plans without the override: %t, want %t:\n%s", got, tc.want, body)
		}
	}
}
