package ratiotest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// patience is how long a provider may take to report; far more than any needs.
const patience = 30 * time.Second

// Source is a provider together with power over its source, which does not
// exist at first.
type Source struct {
	Provider ratios.Provider
	// Write makes the source say what the layer says, apart from provenance.
	Write func(*ratios.Layer)
	// Break makes the source say something that cannot be a layer.
	Break func()
	// Remove makes the source go away.
	Remove func()
	// Optional tells that a source that is absent from the start says nothing,
	// which is no error.
	Optional bool
	// OnlyRatios tells that the source knows no baseline and no bounds.
	OnlyRatios bool
	// RelativeTo is the node type, one of those that are written, that the ratios
	// are relative to and that the source says nothing of; it leaves performances
	// of memory to others. Empty if the ratios are in the unit of all sources.
	RelativeTo string
}

// says is what a layer comes to that was written to the source.
func (s *Source) says(l *ratios.Layer) *ratios.Layer {
	if s.RelativeTo != "" {
		relative := &ratios.Layer{Ratios: map[string]ratios.Ratio{}}
		for name, r := range l.Ratios {
			if name != s.RelativeTo {
				relative.RelativeTo = s.RelativeTo // Of no ratios it means nothing.
				relative.Ratios[name] = ratios.Ratio{CPUPerf: r.CPUPerf}
			}
		}
		return relative
	}
	if s.OnlyRatios {
		return &ratios.Layer{Ratios: l.Ratios}
	}
	return l
}

// Run runs the contract of providers; newSource is called once per test.
func Run(t *testing.T, newSource func(t *testing.T) Source) {
	one := layer("n2d", 1.25)
	two := layer("n4", 1.5)

	t.Run("an absent source is reported until it appears, as an error unless it is optional", func(t *testing.T) {
		s := newSource(t)
		r := start(t, s)
		if s.Optional {
			r.await("a layer that says nothing", func(u ratios.Update) bool {
				return u.Layer != nil && cmp.Equal(&ratios.Layer{RelativeTo: u.Layer.RelativeTo}, u.Layer, asWritten)
			})
		} else {
			r.awaitError()
		}
		s.Write(one)
		r.awaitLayer(one)
	})
	t.Run("a source that is there is reported at once", func(t *testing.T) {
		s := newSource(t)
		s.Write(one)
		r := start(t, s)
		r.awaitLayer(one)
		if first := r.all()[0]; first.Err != nil {
			t.Errorf("the first report was the error %v", first.Err)
		}
	})
	t.Run("every change is reported", func(t *testing.T) {
		s := newSource(t)
		s.Write(one)
		r := start(t, s)
		r.awaitLayer(one)
		s.Write(two)
		r.awaitLayer(two)
		s.Write(one)
		r.awaitLayer(one)
	})
	t.Run("bad content is reported as an error, and good content heals it", func(t *testing.T) {
		s := newSource(t)
		s.Write(one)
		r := start(t, s)
		r.awaitLayer(one)
		s.Break()
		r.awaitError()
		s.Write(one)
		r.awaitLayer(one)
	})
	t.Run("a source that goes away is reported as an error, and its return heals it", func(t *testing.T) {
		s := newSource(t)
		s.Write(one)
		r := start(t, s)
		r.awaitLayer(one)
		s.Remove()
		r.awaitError()
		s.Write(two)
		r.awaitLayer(two)
	})
	t.Run("each report is either a layer or an error, and layers name their source", func(t *testing.T) {
		s := newSource(t)
		s.Write(one)
		r := start(t, s)
		r.awaitLayer(one)
		s.Break()
		r.awaitError()
		for _, u := range r.all() {
			if (u.Layer == nil) == (u.Err == nil) {
				t.Errorf("report %+v", u)
			}
			if u.Layer == nil {
				continue
			}
			for nodeType, ratio := range u.Layer.Ratios {
				if ratio.Provenance.Source != s.Provider.Name() {
					t.Errorf("ratio of %s comes from %q, want %q", nodeType, ratio.Provenance.Source, s.Provider.Name())
				}
			}
		}
	})
	t.Run("a layer never changes once it is reported", func(t *testing.T) {
		s := newSource(t)
		s.Write(one)
		r := start(t, s)
		first := r.awaitLayer(one)
		s.Write(two)
		r.awaitLayer(two)
		if diff := cmp.Diff(s.says(one), first, asWritten); diff != "" {
			t.Errorf("the first layer became another: %s", diff)
		}
	})
	t.Run("the end of the context ends the provider without an error, and its reports", func(t *testing.T) {
		s := newSource(t)
		s.Write(one)
		r := start(t, s)
		r.awaitLayer(one)
		r.stop()
		before := len(r.all())
		s.Write(two)
		if after := len(r.all()); after != before {
			t.Errorf("%d reports after the end", after-before)
		}
	})
	t.Run("a provider can run again", func(t *testing.T) {
		s := newSource(t)
		s.Write(one)
		r := start(t, s)
		r.awaitLayer(one)
		r.stop()
		s.Write(two)
		start(t, s).awaitLayer(two)
	})
}

// layer is a small layer; baseline is one of its two node types.
func layer(baseline string, n4 float64) *ratios.Layer {
	return &ratios.Layer{
		Baseline: baseline,
		Ratios:   map[string]ratios.Ratio{"n2d": {CPUPerf: 1, MemoryPerf: 1}, "n4": {CPUPerf: n4, MemoryPerf: 1}},
		Bounds:   &ratios.Bounds{CPU: sizing.Range{Min: 50, Max: 16000}, Memory: sizing.Range{Min: 64 << 20}},
	}
}

var asWritten = cmp.Options{cmpopts.IgnoreFields(ratios.Ratio{}, "Provenance"), cmpopts.EquateEmpty()}

// reports collects what a provider reports.
type reports struct {
	t      *testing.T
	source Source
	cancel context.CancelFunc
	done   chan error

	mu      sync.Mutex
	list    []ratios.Update
	arrived chan struct{}
}

func start(t *testing.T, s Source) *reports {
	ctx, cancel := context.WithCancel(context.Background())
	r := &reports{t: t, source: s, cancel: cancel, done: make(chan error, 1), arrived: make(chan struct{})}
	go func() { r.done <- s.Provider.Run(ctx, r.add) }()
	t.Cleanup(cancel)
	return r
}

func (r *reports) add(u ratios.Update) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, u)
	close(r.arrived)
	r.arrived = make(chan struct{})
}

func (r *reports) all() []ratios.Update {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]ratios.Update(nil), r.list...)
}

// await waits until the last report is as wanted.
func (r *reports) await(what string, wanted func(ratios.Update) bool) ratios.Update {
	r.t.Helper()
	deadline := time.After(patience)
	for {
		r.mu.Lock()
		var last ratios.Update
		if len(r.list) > 0 {
			last = r.list[len(r.list)-1]
		}
		arrived := r.arrived
		r.mu.Unlock()
		if wanted(last) {
			return last
		}
		select {
		case <-arrived:
		case <-deadline:
			r.t.Fatalf("no report of %s; the last is %+v", what, last)
		}
	}
}

func (r *reports) awaitLayer(want *ratios.Layer) *ratios.Layer {
	r.t.Helper()
	return r.await("a layer", func(u ratios.Update) bool {
		return u.Layer != nil && cmp.Equal(r.source.says(want), u.Layer, asWritten)
	}).Layer
}

func (r *reports) awaitError() {
	r.t.Helper()
	r.await("an error", func(u ratios.Update) bool { return u.Err != nil })
}

func (r *reports) stop() {
	r.t.Helper()
	r.cancel()
	select {
	case err := <-r.done:
		if err != nil {
			r.t.Errorf("Run returned %v", err)
		}
	case <-time.After(patience):
		r.t.Fatal("Run did not return")
	}
}
