package ratiotest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// patience is how long a provider may take to report: far longer than any needs.
const patience = 30 * time.Second

// Source is a provider together with functions that control its source, which does not exist
// at first.
type Source struct {
	Provider ratios.Provider
	// Write writes the layer, without its provenance, to the source.
	Write func(*ratios.Layer)
	// Break writes content that is not a valid layer to the source.
	Break func()
	// Remove deletes the source.
	Remove func()
	// Optional means that a source that is absent from the start is reported as
	// an empty layer and not as an error.
	Optional bool
	// OnlyRatios means that the source has no baseline and no bounds.
	OnlyRatios bool
	// RelativeTo is the written node type that the ratios are relative to. The
	// source has no ratio for it and no memory performances. Empty if the ratios
	// are in the unit that all sources share.
	RelativeTo string
}

// says returns the layer that the provider must report after l was written to the source.
func (s *Source) says(l *ratios.Layer) *ratios.Layer {
	if s.RelativeTo != "" {
		relative := &ratios.Layer{Ratios: map[string]ratios.Ratio{}}
		for name, r := range l.Ratios {
			if name != s.RelativeTo {
				relative.RelativeTo = s.RelativeTo // Without ratios, it has no meaning.
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

// Run runs the contract tests of providers. It calls newSource once per test.
func Run(t *testing.T, newSource func(t *testing.T) Source) {
	one := layer("n2d", 1.25)
	two := layer("n4", 1.5)

	t.Run("reports an absent source until it appears, as an error unless the source is optional", func(t *testing.T) {
		s := newSource(t)
		r := start(t, s)
		if s.Optional {
			r.await("an empty layer", func(u ratios.Update) bool {
				return u.Layer != nil && cmp.Equal(&ratios.Layer{RelativeTo: u.Layer.RelativeTo}, u.Layer, asWritten)
			})
		} else {
			r.awaitError()
		}
		s.Write(one)
		r.awaitLayer(one)
	})
	t.Run("reports an existing source immediately", func(t *testing.T) {
		s := newSource(t)
		s.Write(one)
		r := start(t, s)
		r.awaitLayer(one)
		if first := r.all()[0]; first.Err != nil {
			t.Errorf("the first report was the error %v", first.Err)
		}
	})
	t.Run("reports every change", func(t *testing.T) {
		s := newSource(t)
		s.Write(one)
		r := start(t, s)
		r.awaitLayer(one)
		s.Write(two)
		r.awaitLayer(two)
		s.Write(one)
		r.awaitLayer(one)
	})
	t.Run("reports invalid content as an error until the content is valid again", func(t *testing.T) {
		s := newSource(t)
		s.Write(one)
		r := start(t, s)
		r.awaitLayer(one)
		s.Break()
		r.awaitError()
		s.Write(one)
		r.awaitLayer(one)
	})
	t.Run("reports a removed source as an error until the source returns", func(t *testing.T) {
		s := newSource(t)
		s.Write(one)
		r := start(t, s)
		r.awaitLayer(one)
		s.Remove()
		r.awaitError()
		s.Write(two)
		r.awaitLayer(two)
	})
	t.Run("reports either a layer or an error, and layers name their source", func(t *testing.T) {
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
	t.Run("never changes a reported layer", func(t *testing.T) {
		s := newSource(t)
		s.Write(one)
		r := start(t, s)
		first := r.awaitLayer(one)
		s.Write(two)
		r.awaitLayer(two)
		if diff := cmp.Diff(s.says(one), first, asWritten); diff != "" {
			t.Errorf("the first layer changed: %s", diff)
		}
	})
	t.Run("stops reporting and returns no error when the context ends", func(t *testing.T) {
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
	t.Run("can run again", func(t *testing.T) {
		s := newSource(t)
		s.Write(one)
		r := start(t, s)
		r.awaitLayer(one)
		r.stop()
		s.Write(two)
		start(t, s).awaitLayer(two)
	})
}

// layer returns a small layer; baseline is one of its two node types.
func layer(baseline string, n4 float64) *ratios.Layer {
	return &ratios.Layer{
		Baseline: baseline,
		Ratios:   map[string]ratios.Ratio{"n2d": {CPUPerf: 1, MemoryPerf: 1}, "n4": {CPUPerf: n4, MemoryPerf: 1}},
		Settings: keys.Some(policy.Settings{Bounds: policy.Bounds{CPU: sizing.Range{Min: 50, Max: 16000}, Memory: sizing.Range{Min: 64 << 20}}}),
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

// await waits until the last report meets the condition.
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
