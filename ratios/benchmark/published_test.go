package benchmark

import (
	"fmt"
	"strings"
	"testing"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func TestWhatCanBePublished(t *testing.T) {
	for _, tc := range []struct{ name, text, wrong string }{
		{"nothing", ``, ""},
		{"no node type", `{}`, ""},
		{"a ratio", `{"nodeTypes": {"n4": {"baseline": "n2d", "ratio": 1.08}}}`, ""},
		{"none yet", `{"nodeTypes": {"n4": {"baseline": "n2d", "confirmed": 1}}}`, ""},
		{"the least and the greatest", `{"nodeTypes": {"n4": {"baseline": "n2d", "ratio": 0.01}, "c3": {"baseline": "n2d", "ratio": 100}}}`, ""},
		{"less than that", `{"nodeTypes": {"n4": {"baseline": "n2d", "ratio": 0.0099}}}`, `nodeTypes["n4"].ratio: must be from 0.01 to 100, or 0 for none, not 0.0099`},
		{"more than that", `{"nodeTypes": {"n4": {"baseline": "n2d", "ratio": 100.1}}}`, `must be from 0.01 to 100, or 0 for none, not 100.1`},
		{"less than nothing", `{"nodeTypes": {"n4": {"baseline": "n2d", "ratio": -1}}}`, `must be from 0.01 to 100`},
		{"a ratio to nothing", `{"nodeTypes": {"n4": {"ratio": 1}}}`, `needs a name and a baseline`},
		{"something else", `[]`, publishedKey},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := parsePublished(map[string]string{publishedKey: tc.text})
			if tc.wrong == "" && err != nil || tc.wrong != "" && (err == nil || !strings.Contains(err.Error(), tc.wrong)) {
				t.Errorf("got %v, want %q", err, tc.wrong)
			}
		})
	}
}

// extreme has another source say what cannot be published, of which a measured ratio
// starts, and to which it is rebased.
func extreme(t *testing.T, s *stored) {
	s.set(t, applied)
	r := s.run(t, clocktesting.NewFakeClock(began), Config{})
	other := byHand()
	other.Ratios["n4"], other.Ratios["c3"] = ratios.Ratio{CPUPerf: 500, MemoryPerf: 1}, ratios.Ratio{CPUPerf: 1, MemoryPerf: 1}
	r.base.Set(ratios.Update{Layer: other})
	localcluster.Eventually(t, "what the other source says", func() error {
		if got := r.ratio("n4"); got != 500 {
			return fmt.Errorf("n4 has %v", got)
		}
		return nil
	})
	r.measure(t, "n2d", 1)
	r.measure(t, "n4", 1.08)
	r.measure(t, "c3", 1.2)
	r.hours(t, 4)
	if got := r.ratio("n4"); !near(got, 100/1.1/1.1/1.1) {
		t.Errorf("n4 has %v", got)
	}
	slow := *other
	slow.Baseline = "n4"
	r.base.Set(ratios.Update{Layer: &slow})
	r.hours(t, 3)
	if err := r.store.Sources()[0].Err; err != nil {
		t.Error(err)
	}
}

// emptied has a person end all measured ratios.
func emptied(t *testing.T, s *stored) {
	s.set(t, applied)
	r := s.run(t, clocktesting.NewFakeClock(began), Config{})
	r.measure(t, "n2d", 1)
	r.measure(t, "n4", 1.08)
	r.hours(t, 6)
	if got := r.ratio("n4"); !near(got, 1.08) {
		t.Fatalf("n4 has %v", got)
	}
	s.write(t, s.state(), nil)
	localcluster.Eventually(t, "what the other source says", func() error {
		if got := r.ratio("n4"); got != 1.25 {
			return fmt.Errorf("n4 has %v", got)
		}
		return nil
	})
	// The window that was judged before does not count again.
	if err := r.Judge(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.hours(t, 1)
	if got := r.ratio("n4"); got != 1.25 {
		t.Errorf("before it is confirmed anew n4 has %v", got)
	}
	r.hours(t, 5)
	if got := r.ratio("n4"); !near(got, 1.08) {
		t.Errorf("n4 has %v", got)
	}
}
