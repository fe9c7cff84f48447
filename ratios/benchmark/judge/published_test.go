package judge

import (
	"fmt"
	"testing"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// extreme tests with another source whose ratio is too extreme to be published. A measured
// ratio starts from it, and is rebased to it.
func extreme(t *testing.T, s *stored) {
	s.set(t, applied)
	r := s.run(t, clocktesting.NewFakeClock(began), benchmark.Config{})
	other := byHand()
	other.Ratios["n4"], other.Ratios["c3"] = ratios.Ratio{CPUPerf: 500, MemoryPerf: 1}, ratios.Ratio{CPUPerf: 1, MemoryPerf: 1}
	r.base.Set(ratios.Update{Layer: other})
	localcluster.Eventually(t, "the ratio of the other source", func() error {
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

// emptied ends all measured ratios as a person would.
func emptied(t *testing.T, s *stored) {
	s.set(t, applied)
	r := s.run(t, clocktesting.NewFakeClock(began), benchmark.Config{})
	r.measure(t, "n2d", 1)
	r.measure(t, "n4", 1.08)
	r.hours(t, 6)
	if got := r.ratio("n4"); !near(got, 1.08) {
		t.Fatalf("n4 has %v", got)
	}
	s.write(t, s.state(), nil)
	localcluster.Eventually(t, "the ratio of the other source", func() error {
		if got := r.ratio("n4"); got != 1.25 {
			return fmt.Errorf("n4 has %v", got)
		}
		return nil
	})
	// The window that was judged already does not count again.
	if err := r.judge.Judge(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.hours(t, 1)
	if got := r.ratio("n4"); got != 1.25 {
		t.Errorf("before it is confirmed again, n4 has %v", got)
	}
	r.hours(t, 5)
	if got := r.ratio("n4"); !near(got, 1.08) {
		t.Errorf("n4 has %v", got)
	}
}
