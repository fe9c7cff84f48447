package measured

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/pace"
)

// source is a source of ratios whose layer the test sets.
type source struct {
	name   string
	first  *ratios.Layer
	runs   chan struct{}
	report func(ratios.Update)
}

func (s *source) Name() string { return s.name }

func (s *source) Run(ctx context.Context, report func(ratios.Update)) error {
	s.report = report
	report(ratios.Update{Layer: s.first})
	close(s.runs)
	<-ctx.Done()
	return nil
}

// TestTogether lets two measured sources of one node type end, in the same window or not. Each is judged by the table of before
// or after the judgment of the other one, since they do not wait for each other.
func TestTogether(t *testing.T) {
	const nodeType, hours = "n4", 60
	random := rand.New(rand.NewPCG(1, 2))
	began := time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC)
	for run := range 300 {
		from := func() float64 { return Publishable(math.Exp(random.Float64() - 0.5)) }
		byHand := &ratios.Layer{Baseline: "n2d", Ratios: map[string]ratios.Ratio{"n2d": {CPUPerf: 1, MemoryPerf: 1}}}
		without := 1.0
		if random.IntN(2) == 0 {
			without = from()
			byHand.Ratios[nodeType] = ratios.Ratio{CPUPerf: without, MemoryPerf: 1}
		}
		published := [2]Published{}
		var sources [2]*source
		var ends [2]int
		for i := range published {
			published[i].NodeTypes = map[string]Entry{nodeType: {State: pace.State{Baseline: "n2d", Ratio: from(), Judged: began}}}
			sources[i] = &source{name: [...]string{"benchmark", "production"}[i], first: published[i].Layer("", ""), runs: make(chan struct{})}
			ends[i] = random.IntN(6)
		}
		if random.IntN(4) == 0 {
			ends[random.IntN(2)] = hours // It goes on.
		}
		configured := &source{name: "configmap", first: byHand, runs: make(chan struct{})}
		store := ratios.NewStore(sources[0], sources[1], configured)
		done := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { done <- store.Run(ctx) }()
		for _, s := range append(sources[:], configured) {
			<-s.runs
		}
		effective := func() float64 {
			if e, known := store.Table().Lookup(nodeType); known {
				return e.Ratio.CPUPerf
			}
			return 1
		}
		before := effective()
		for hour := range hours {
			at := began.Add(time.Duration(hour+1) * time.Hour)
			judge := func(i int) {
				j := &Judgment{Source: sources[i].name, Baseline: "n2d", Ratios: store, Pace: pace.Defaults()}
				if hour < ends[i] {
					j.Targets = map[string]Target{nodeType: {HeldBack: true}}
				}
				published[i], _ = j.Move(t.Context(), published[i], func(string) time.Time { return time.Time{} }, at)
			}
			report := func(i int) { sources[i].report(ratios.Update{Layer: published[i].Layer("", "")}) }
			first := random.IntN(2)
			judge(first)
			if random.IntN(2) == 0 {
				report(first)
			}
			judge(1 - first)
			report(first)
			report(1 - first)
			now := effective()
			if step := math.Abs(math.Log(now / before)); step > math.Log(1.1)+1e-5 {
				t.Errorf("run %d: from %.3f to %.3f in hour %d, with %+v", run, before, now, hour, published)
			}
			before = now
		}
		if last := max(ends[0], ends[1]); last < hours && (math.Abs(before-without) > 1e-9 || len(published[0].NodeTypes)+len(published[1].NodeTypes) > 0) {
			t.Errorf("run %d ends with %v, want %v: %+v", run, before, without, published)
		}
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
}
