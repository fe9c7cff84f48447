package judge

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark"
)

// looked calls View just before each window ends.
func looked(t *testing.T, s *stored) {
	s.set(t, applied)
	r := s.run(t, clocktesting.NewFakeClock(began), benchmark.Config{})
	r.measure(t, "n2d", 1)
	r.measure(t, "n4", 1.08)
	for range 3 {
		r.clock.SetTime(r.clock.Now().Truncate(time.Hour).Add(time.Hour - 20*time.Second))
		if _, err := r.judge.View(); err != nil {
			t.Fatal(err)
		}
		r.clock.Step(20 * time.Second)
		if err := r.judge.Judge(t.Context()); err != nil {
			t.Fatal(err)
		}
		v, err := r.judge.View()
		if err != nil || !v.Progress["n4"].Judged.Equal(r.clock.Now()) {
			t.Errorf("at %s n4 is judged at %s, %v", r.clock.Now(), v.Progress["n4"].Judged, err)
		}
	}
	if got := r.ratio("n4"); !near(got, 1.08) {
		t.Errorf("n4 has %v", got)
	}
}

// ahead creates a view with a clock that is corrected afterward.
func ahead(t *testing.T, s *stored) {
	s.set(t, applied)
	r := s.run(t, clocktesting.NewFakeClock(began), benchmark.Config{})
	r.measure(t, "n2d", 1)
	r.measure(t, "n4", 1.08)
	r.hours(t, 6)
	r.clock.SetTime(began.Add(365 * 24 * time.Hour))
	if err := r.judge.Judge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if v, err := r.judge.View(); err != nil || len(v.Estimates) != 0 {
		t.Fatalf("%v, %v", v, err)
	}
	r.clock.SetTime(began.Add(8 * time.Hour))
	if v, err := r.judge.View(); err != nil || len(v.Estimates) == 0 {
		t.Errorf("%v, %v", v, err)
	}
	r.hours(t, 6)
	if got := r.ratio("n4"); !near(got, 1.08) {
		t.Errorf("n4 has %v", got)
	}
}
