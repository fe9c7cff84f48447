package overload

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/policy"
)

// TestRandom decides on random readings, some of them nonsense, and asks a witness that remembers all of them.
func TestRandom(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 39))
		f := newFleet(1+r.IntN(12), func(o *policy.Overload) {
			o.MaxShare, o.For = 0.01+0.99*r.Float64(), time.Duration(1+r.IntN(6))*time.Minute
			if r.IntN(4) == 0 {
				o.Memory = 0
			}
		})
		w := &witness{fleet: f, seen: make([][signals][]seen, len(f.nodes)), mood: make([]float64, len(f.nodes))}
		for i := range f.nodes {
			f.nodes[i].Tainted = r.IntN(4) == 0
		}
		for range 150 {
			if w.step(t, r); t.Failed() {
				t.Fatalf("seed %d, at %v", seed, f.now.Sub(began))
			}
		}
	}
}

// seen is a reading that counted, and when it was first seen.
type seen struct {
	Reading
	first time.Time
}

type witness struct {
	*fleet
	seen [][signals][]seen
	// mood is how busy nodes are.
	mood []float64
}

func (w *witness) step(t *testing.T, r *rand.Rand) {
	before := w.tainted()
	if w.now = w.now.Add(time.Duration(r.IntN(60)) * time.Second); r.IntN(100) == 0 {
		w.now = w.now.Add(-time.Duration(60+r.IntN(600)) * time.Second)
	}
	for i := range w.nodes {
		if r.IntN(20) == 0 {
			w.mood[i] = []float64{0, 0.85, 1, 1.3}[r.IntN(4)]
		}
		if r.IntN(50) == 0 {
			w.nodes[i].Works = !w.nodes[i].Works
		}
		for s := range signals {
			if r.IntN(3) > 0 {
				w.nodes[i].Readings[s] = w.reading(r, s, w.mood[i])
			}
			now, all := w.nodes[i].Readings[s], w.seen[i][s]
			if n := len(all); !w.nodes[i].Works || n > 0 && w.now.Before(all[n-1].first) {
				all = nil
			}
			if w.seen[i][s] = all; w.nodes[i].Works && now.counts(w.now) && (len(all) == 0 || !all[len(all)-1].At.Equal(now.At)) {
				w.seen[i][s] = append(all, seen{now, w.now})
			}
		}
	}
	d := w.round(0)
	w.check(t, before, d)
}

func (w *witness) reading(r *rand.Rand, s Signal, mood float64) Reading {
	value := mood * max(s.Limit(w.limits), 0.5)
	switch r.IntN(30) {
	case 0:
		value = math.NaN()
	case 1:
		value = math.Inf(1)
	case 2:
		value = -value
	}
	at := w.now.Add(-time.Duration(r.IntN(20)) * time.Second)
	switch r.IntN(60) {
	case 0:
		at = at.Add(-time.Hour)
	case 1:
		at = at.Add(time.Hour)
	}
	return Reading{value, at}
}

// lastly reports whether all readings that a signal had in some time before its newest one, and that one, pass, and
// there are enough of them.
func (w *witness) lastly(all []seen, as func(float64) bool) bool {
	if len(all) == 0 {
		return false
	}
	newest := all[len(all)-1].first
	for i := len(all) - 1; i >= 0; i-- {
		switch {
		case !as(all[i].Value):
			return false
		case newest.Sub(all[i].first) >= w.limits.For:
			return true
		case i > 0 && all[i].first.Sub(all[i-1].first) > Fresh:
			return false
		}
	}
	return false
}

func (w *witness) check(t *testing.T, before []string, d Decision) {
	t.Helper()
	working, tainted := 0, 0
	had := map[string]bool{}
	for _, name := range before {
		had[name] = true
	}
	at := map[string]int{}
	for i := range w.nodes {
		n := &w.nodes[i]
		at[n.Name] = i
		if n.Works {
			working++
			if n.Tainted {
				tainted++
			}
		}
	}
	if most := int(w.limits.MaxShare * float64(working)); tainted > max(1, most) || working > 0 && tainted > working {
		t.Errorf("%d of %d nodes have the taint, share %v", tainted, working, w.limits.MaxShare)
	}
	changed := map[string]bool{}
	for _, v := range append(append([]Verdict{}, d.Taint...), d.Clear...) {
		if changed[v.Node] {
			t.Errorf("two verdicts on %s", v.Node)
		}
		changed[v.Node] = true
		n := &w.nodes[at[v.Node]]
		mine := &w.seen[at[v.Node]]
		switch {
		case had[v.Node] == (v.Why == TooHigh):
			t.Errorf("%s had the taint: %t, but verdict %+v", v.Node, had[v.Node], v)
		case v.Why == TooHigh:
			limit := v.Signal.Limit(w.limits)
			if !n.Works || limit == 0 || !w.lastly(mine[v.Signal], func(value float64) bool { return value >= limit }) {
				t.Errorf("%+v is tainted because of %+v", n, mine[v.Signal])
			}
		case v.Why == LowAgain:
			calm := false
			for s := range signals {
				limit := s.Limit(w.limits)
				calm = calm || limit > 0 && w.lastly(mine[s], func(value float64) bool { return value < limit*(1-Hysteresis) })
			}
			if !calm {
				t.Errorf("%+v is cleared because of %+v", n, mine)
			}
		}
	}
	// The same again changes nothing.
	if again := w.judge.Decide(w.limits, w.nodes, w.now); len(again.Taint)+len(again.Clear) > 0 {
		t.Errorf("decided twice: %+v, then %+v", d, again)
	}
}
