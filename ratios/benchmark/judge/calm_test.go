package judge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark"
	"github.com/workload-resizer/workload-resizer/ratios/measured"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

const applied = "nodeTypes: {n4: {mode: apply}, c3: {mode: apply}}\naggregation: {minMachines: 3}"

func TestJudge(t *testing.T) {
	namespace := localcluster.NamespaceForTest(t)
	client := kubernetes.NewForConfigOrDie(namespace.Config())
	n := 0
	for _, tc := range []struct {
		name string
		test func(*testing.T, *stored)
	}{
		{"judges every window after its end", byItself},
		{"judges soon after it begins to lead", beginsToLead},
		{"does not publish ratios that are only observed", observed},
		{"moves a ratio in steps to the measured one, follows it, and returns when samples expire", calm},
		{"keeps everything across a restart", restarted},
		{"only the leader moves ratios, and both replicas have them", led},
		{"a dry run writes nothing", dry},
		{"invalid settings leave the last good ones in effect, and are reported", badSettings},
		{"does not move ratios if samples cannot be read", unreadable},
		{"a changed baseline does not make ratios jump", rebased},
		{"published ratios can be read back for any ratios of other sources", extreme},
		{"emptying the ConfigMap ends the ratios immediately, and they start again", emptied},
		{"a view just before the end of a window does not skip the window", looked},
		{"a clock that was briefly ahead moves nothing", ahead},
		{"moves the ratios of a fleet in steps, and leaves them in place for 90 days", fleet},
	} {
		n++
		name := fmt.Sprint("p", n)
		t.Run(tc.name, func(t *testing.T) { tc.test(t, newStored(t, client, namespace.Name, name)) })
	}
}

// byItself runs the judge. All other tests call it directly, so that they control when it
// judges.
func byItself(t *testing.T, s *stored) {
	s.set(t, applied)
	r := s.run(t, clocktesting.NewFakeClock(began), benchmark.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.judge.Run(ctx) }()
	r.measure(t, "n2d", 1)
	r.measure(t, "n4", 1.08)
	localcluster.Eventually(t, "the measured ratio", func() error {
		if got := r.ratio("n4"); !near(got, 1.08) {
			r.clock.Step(time.Minute)
			return fmt.Errorf("n4 has %v", got)
		}
		return nil
	})
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// beginsToLead lets another replica lead when the judge starts to run.
func beginsToLead(t *testing.T, s *stored) {
	s.set(t, applied)
	r := s.run(t, clocktesting.NewFakeClock(began), benchmark.Config{})
	r.measure(t, "n2d", 1)
	r.measure(t, "n4", 1.08)
	var leads atomic.Bool
	r.judge.config.Leads = leads.Load
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.judge.Run(ctx) }()
	localcluster.Eventually(t, "a pause", func() error {
		if !r.clock.HasWaiters() {
			return errors.New("nothing waits for the clock")
		}
		return nil
	})
	leads.Store(true)
	r.clock.Step(measured.RetryPeriod)
	localcluster.Eventually(t, "a judgment", func() error {
		if v, err := r.judge.View(); err != nil || v.Progress["n4"].Confirmed != 1 {
			return fmt.Errorf("got %+v, %w", v.Progress["n4"], err)
		}
		return nil
	})
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func observed(t *testing.T, s *stored) {
	s.set(t, "mode: observe\naggregation: {minMachines: 3}")
	r := s.run(t, clocktesting.NewFakeClock(began), benchmark.Config{})
	r.measure(t, "n2d", 1)
	r.measure(t, "n4", 1.08)
	v, err := r.judge.View()
	if err != nil {
		t.Fatal(err)
	}
	e, ok := v.Estimate("n4")
	if !ok || !near(e.Ratio, 1.08) || len(e.Doubts) > 0 {
		t.Fatalf("got %+v", e)
	}
	r.hours(t, 5)
	if got := r.ratio("n4"); got != 1.25 || len(v.Progress) != 0 {
		t.Errorf("n4 has %v, progress %v", got, v.Progress)
	}
}

func calm(t *testing.T, s *stored) {
	s.set(t, applied)
	r := s.run(t, clocktesting.NewFakeClock(began), benchmark.Config{})
	r.measure(t, "n2d", 1)
	r.measure(t, "n4", 1.08)
	r.measure(t, "c3", 1.2)
	var n4, c3 []float64
	for range 6 {
		r.hours(t, 1)
		n4, c3 = append(n4, r.ratio("n4")), append(c3, r.ratio("c3"))
	}
	t.Logf("n4 %.4v, c3 %.4v", n4, c3)
	for name, way := range map[string][]float64{"n4": n4, "c3": c3} {
		for i := 1; i < len(way); i++ {
			if way[i-1] > 0 && (way[i]/way[i-1] > 1.1001 || way[i-1]/way[i] > 1.1001) {
				t.Errorf("%s jumps from %v to %v", name, way[i-1], way[i])
			}
		}
	}
	if !near(r.ratio("n4"), 1.08) || !near(r.ratio("c3"), 1.2) {
		t.Fatalf("n4 has %v, c3 %v", r.ratio("n4"), r.ratio("c3"))
	}
	entry, _ := r.store.Table().Lookup("n4")
	if p := entry.Ratio.Provenance; p.Source != benchmark.Source || p.Reason == "" || entry.Ratio.MemoryPerf != 1.5 {
		t.Errorf("got %+v", entry.Ratio)
	}

	// A rise of 3% changes nothing; a rise of 12% changes the ratio in steps.
	settled := r.ratio("n4")
	r.clock.Step(80 * 24 * time.Hour)
	r.measure(t, "n2d", 1)
	r.measure(t, "c3", 1.2)
	r.measure(t, "n4", 1.08*1.03)
	r.clock.Step(11 * 24 * time.Hour) // The first measurements no longer count.
	r.hours(t, 4)
	if got := r.ratio("n4"); got != settled {
		t.Errorf("a change by 3%% moved n4 from %v to %v", settled, got)
	}
	r.clock.Step(80 * 24 * time.Hour)
	r.measure(t, "n2d", 1)
	r.measure(t, "n4", 1.08*1.12)
	r.clock.Step(11 * 24 * time.Hour)
	var way []float64
	for range 5 {
		r.hours(t, 1)
		way = append(way, r.ratio("n4"))
	}
	t.Logf("n4 %.5v", way)
	if !near(way[len(way)-1], 1.2096) || !slices.IsSorted(way) || len(slices.Compact(slices.Clone(way))) < 3 {
		t.Errorf("n4 moved through %v", way)
	}

	// There are no measurements left: the other sources take effect again.
	r.clock.Step(91 * 24 * time.Hour)
	r.hours(t, 6)
	entry, _ = r.store.Table().Lookup("n4")
	if entry.Ratio.Provenance.Source == benchmark.Source || entry.Ratio.CPUPerf != 1.25 {
		t.Errorf("n4 has %+v", entry.Ratio)
	}
	if r.store.Table().Knows("c3") {
		t.Errorf("c3 still has %v", r.ratio("c3"))
	}
}

func restarted(t *testing.T, s *stored) {
	s.set(t, applied)
	clock := clocktesting.NewFakeClock(began)
	r := s.run(t, clock, benchmark.Config{})
	r.measure(t, "n2d", 1)
	r.measure(t, "n4", 1.08)
	r.hours(t, 6)
	before := r.ratio("n4")
	r.stop()
	r = s.run(t, clock, benchmark.Config{})
	if got := r.ratio("n4"); got != before || got == 1.25 {
		t.Errorf("n4 has %v, had %v", got, before)
	}
	v, err := r.judge.View()
	if err != nil {
		t.Fatal(err)
	}
	if e, ok := v.Estimate("n4"); !ok || !near(e.Ratio, 1.08) {
		t.Errorf("got %+v", e)
	}
	r.hours(t, 3)
	if got := r.ratio("n4"); got != before {
		t.Errorf("n4 has %v, had %v", got, before)
	}
}

func led(t *testing.T, s *stored) {
	s.set(t, applied)
	clock := clocktesting.NewFakeClock(began)
	leader := s.run(t, clock, benchmark.Config{})
	other := s.run(t, clock, benchmark.Config{})
	other.judge.config.Leads = func() bool { return false }
	other.measure(t, "n2d", 1)
	other.measure(t, "n4", 1.08)
	localcluster.Eventually(t, "the samples at the leader", func() error {
		v, err := leader.judge.View()
		if err != nil {
			return err
		}
		if e, ok := v.Estimate("n4"); !ok || len(e.Doubts) > 0 {
			return fmt.Errorf("%+v", e)
		}
		return nil
	})
	other.hours(t, 3)
	if got := leader.ratio("n4"); got != 1.25 {
		t.Errorf("a replica that does not lead moved n4 to %v", got)
	}
	leader.hours(t, 6)
	localcluster.Eventually(t, "the ratio at the other replica", func() error {
		if got := other.ratio("n4"); got != leader.ratio("n4") || !near(got, 1.08) {
			return fmt.Errorf("%v, the leader has %v", got, leader.ratio("n4"))
		}
		return nil
	})
}

func dry(t *testing.T, s *stored) {
	s.set(t, applied)
	r := s.run(t, clocktesting.NewFakeClock(began), benchmark.Config{ReadOnly: true})
	r.measure(t, "n2d", 1)
	r.measure(t, "n4", 1.08)
	r.hours(t, 6)
	if got := r.ratio("n4"); !near(got, 1.08) {
		t.Errorf("n4 has %v", got)
	}
	for _, name := range s.all() {
		if data := s.data(t, name); len(data) > 0 {
			t.Errorf("%s has %v", name, data)
		}
	}
}

func badSettings(t *testing.T, s *stored) {
	s.set(t, applied)
	r := s.run(t, clocktesting.NewFakeClock(began), benchmark.Config{})
	r.measure(t, "n2d", 1)
	r.measure(t, "n4", 1.08)
	r.hours(t, 6)
	before := r.ratio("n4")
	s.set(t, "mode: sometimes")
	localcluster.Eventually(t, "the source to be unhealthy", func() error {
		if r.store.Sources()[0].Err == nil {
			return fmt.Errorf("it is healthy")
		}
		return nil
	})
	if got := r.ratio("n4"); got != before {
		t.Errorf("n4 has %v, had %v", got, before)
	}
	r.stop()
	r = s.start(t, r.clock, benchmark.Config{})
	if got := r.ratio("n4"); got != before {
		t.Errorf("after a restart n4 has %v, had %v", got, before)
	}
	s.set(t, applied)
	localcluster.Eventually(t, "the source to be healthy", func() error { return r.store.Sources()[0].Err })
}

func unreadable(t *testing.T, s *stored) {
	s.set(t, applied)
	r := s.run(t, clocktesting.NewFakeClock(began), benchmark.Config{})
	r.measure(t, "n2d", 1)
	r.measure(t, "n4", 1.08)
	r.hours(t, 6)
	before := r.ratio("n4")
	for _, name := range s.all() {
		if data := s.data(t, name); len(data) > 0 && name != s.state() {
			for key := range data {
				data[key] = "{"
			}
			s.write(t, name, data)
		}
	}
	localcluster.Eventually(t, "the source to be unhealthy", func() error {
		if r.store.Sources()[0].Err == nil {
			return fmt.Errorf("it is healthy")
		}
		return nil
	})
	r.clock.Step(91 * 24 * time.Hour)
	if err := r.judge.Judge(t.Context()); err == nil {
		t.Error("judged without samples")
	}
	if got := r.ratio("n4"); got != before {
		t.Errorf("n4 has %v, had %v", got, before)
	}
}

func rebased(t *testing.T, s *stored) {
	s.set(t, applied)
	r := s.run(t, clocktesting.NewFakeClock(began), benchmark.Config{})
	r.measure(t, "n2d", 1)
	r.measure(t, "n4", 1.08)
	r.measure(t, "c3", 1.2)
	r.hours(t, 6)
	other := byHand()
	other.Baseline = "n4"
	r.base.Set(ratios.Update{Layer: other})
	r.hours(t, 1)
	if got := r.ratio("c3"); !near(got, 1.2) {
		t.Errorf("c3 jumps to %v", got)
	}
	r.hours(t, 5)
	// n4 is the baseline now, with 1.25 from the other source. c3 is
	// 1.2/1.08 times as fast.
	if got := r.ratio("c3"); !near(got, 1.25*1.2/1.08) || r.ratio("n4") != 1.25 {
		t.Errorf("c3 has %v, n4 %v", got, r.ratio("n4"))
	}
}
