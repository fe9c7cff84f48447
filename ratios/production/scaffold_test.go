package production

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
	"github.com/workload-resizer/workload-resizer/ratios/production/productiontest"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// began is when simulated evidence ended.
var began = time.Date(2024, 10, 18, 1, 0, 0, 0, time.UTC)

// observed is the evidence of a simulated cluster, which may be missing.
type observed struct {
	simulated
	mu      sync.Mutex
	known   *evidence.Evidence
	missing error
	// copies is how often it was copied.
	copies int
}

// simulated is two weeks of a cluster with three node types.
type simulated struct {
	of  *productiontest.Cluster
	all *evidence.Evidence
}

func simulate(workloads int) func() simulated {
	return sync.OnceValue(func() simulated {
		s := productiontest.Defaults()
		s.Workloads, s.Types, s.NodesPerType = workloads, 3, 60
		x := simulated{productiontest.New(1, s), evidence.New()}
		x.of.Run(x.all, s.Days)
		return x
	})
}

// A large cluster is known well, and a small one is not.
var large, tiny = simulate(150), simulate(3)

func observe(of func() simulated) *observed {
	x := of()
	return &observed{simulated: x, known: x.all}
}

func (o *observed) Evidence() *evidence.Evidence {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.copies++
	return o.known.Clone()
}

func (o *observed) Missing() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.missing
}

func (o *observed) set(known *evidence.Evidence, missing error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.known, o.missing = known, missing
}

// truth returns the true ratio of a node type.
func (o *observed) truth(number int) float64 { return math.Exp(o.of.Mean(number)) }

// replica is a judge, its provider, and a store with a second source that has written ratios. The judge does not run: tests
// control when it judges.
type replica struct {
	provider *Provider
	judge    *Judge
	store    *ratios.Store
	clock    *clocktesting.FakeClock
	types    []string
	applies  bool
}

// byHand are ratios that people wrote.
func byHand() *ratios.Layer {
	return &ratios.Layer{Baseline: "t0", Ratios: map[string]ratios.Ratio{
		"t0": {CPUPerf: 1, MemoryPerf: 1}, "t1": {CPUPerf: 1, MemoryPerf: 1.5}, "t2": {CPUPerf: 1, MemoryPerf: 1},
	}}
}

// run starts a replica and waits for a table.
func (s *stored) run(t *testing.T, known Evidence, change func(*Config, *JudgeConfig)) *replica {
	t.Helper()
	r := &replica{clock: clocktesting.NewFakeClock(began), types: []string{"t0", "t1", "t2"}}
	c := Config{Client: s.client, Namespace: s.namespace, Name: s.name, Clock: r.clock}
	j := JudgeConfig{
		Evidence: known, Clock: r.clock,
		NodeTypes: func() []string { return r.types }, Applies: func() bool { return r.applies },
	}
	if change != nil {
		change(&c, &j)
	}
	r.provider = New(c)
	r.store = ratios.NewStore(r.provider, ratiotest.NewMemory("configmap", ratios.Update{Layer: byHand()}))
	j.Provider, j.Ratios = r.provider, r.store
	r.judge = NewJudge(j)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.store.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("ended with %v", err)
		}
	})
	localcluster.Eventually(t, "a table", func() error { _, err := r.store.Ready(); return err })
	return r
}

// hours advances the clock by n windows, and judges each of them.
func (r *replica) hours(t *testing.T, n int) {
	t.Helper()
	for range n {
		r.pass()
		if err := r.judge.Judge(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// pass advances the clock to the end of the window.
func (r *replica) pass() { r.clock.SetTime(r.clock.Now().Truncate(time.Hour).Add(time.Hour)) }

// entry returns the effective ratio of a node type.
func (r *replica) entry(nodeType string) ratios.Ratio {
	e, ok := r.store.Table().Lookup(nodeType)
	if !ok {
		return ratios.Ratio{}
	}
	return e.Ratio
}

// eventually waits until a node type has a ratio.
func (r *replica) eventually(t *testing.T, nodeType string, want float64) {
	t.Helper()
	localcluster.Eventually(t, "the ratio of "+nodeType, func() error {
		if got := r.entry(nodeType).CPUPerf; got != want {
			return fmt.Errorf("it has %v, want %v", got, want)
		}
		return nil
	})
}

// problem returns the problem of the source.
func (r *replica) problem() error { return r.store.Sources()[0].Err }

// suggested returns the suggestion for a node type.
func (r *replica) suggested(t *testing.T, nodeType string) *Suggestion {
	t.Helper()
	s, ok := r.judge.View().Suggestion(nodeType)
	if !ok {
		t.Fatalf("there is no suggestion for %s", nodeType)
	}
	return s
}
