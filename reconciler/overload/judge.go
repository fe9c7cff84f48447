package overload

import (
	"cmp"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/policy"
)

// Node is a node to judge.
type Node struct {
	// UID tells it from an earlier node with its name.
	Name, UID string
	// Works means that new pods may start there: it is ready, not cordoned, and has room for pods. Others are not judged.
	Works bool
	// Tainted means that it has the taint.
	Tainted bool
	Readings
}

// Why is why a node gets the taint or loses it.
type Why int

// TooHigh is why it gets the taint. Otherwise, its values are low again, or not known, or too many other nodes have
// the taint.
const (
	TooHigh Why = iota
	LowAgain
	NotKnown
	TooMany
)

// Verdict says that the taint of a node must change.
type Verdict struct {
	Node string
	Why  Why
	// Signal is the one that is the highest above its limit, and Value its newest value. They are for TooHigh only.
	Signal Signal
	Value  float64
}

// Decision is what must change.
type Decision struct {
	// Taint are the nodes that must get the taint, the worst first, and Clear those that must lose it.
	Taint, Clear []Verdict
	// Room is how many nodes may get the taint once all of Clear have lost it.
	Room int
	// Spared is how many nodes are overloaded and do not get the taint because too many others have it.
	Spared int
}

// Judge remembers what was measured. It is not safe for concurrent use.
type Judge struct{ nodes map[string]*known }

// known is what is remembered of a node.
type known struct {
	uid    string
	trails [signals]trail
	// silent is the time from which on nothing has been known; zero if something is.
	silent time.Time
}

// New returns a judge that has seen nothing.
func New() *Judge { return &Judge{nodes: map[string]*known{}} }

// subject is a node with what is known of it.
type subject struct {
	*Node
	*known
	// score is how high its values are, relative to their limits: from 1 on, one is too high.
	score float64
}

// Decide takes note of the newest readings of all nodes, and says which taints must change.
func (j *Judge) Decide(limits *policy.Overload, nodes []Node, now time.Time) (d Decision) {
	before := j.nodes
	j.nodes = make(map[string]*known, len(nodes))
	var keep, want []subject
	working, kept := 0, 0
	for i := range nodes {
		n := &nodes[i]
		k := before[n.Name]
		if k == nil || k.uid != n.UID {
			k = &known{uid: n.UID}
		}
		j.nodes[n.Name] = k
		k.follow(n, limits, now)
		if n.Works {
			working++
		}
		s := subject{n, k, k.score(limits)}
		switch why, clear := k.clears(limits, now); {
		case n.Tainted && clear:
			d.Clear = append(d.Clear, Verdict{Node: n.Name, Why: why})
		case n.Tainted && n.Works:
			keep = append(keep, s)
			kept++
		case n.Tainted:
			kept++ // It may work again soon, so its place is taken.
		case n.Works && k.isHigh(limits):
			want = append(want, s)
		}
	}
	most := Most(limits.MaxShare, working)
	if limits.Forbids() {
		most = min(most, max(working-1, 0)) // New pods need a node.
	}
	slices.SortFunc(keep, worst)
	for _, s := range keep[min(most, len(keep)):] {
		d.Clear = append(d.Clear, Verdict{Node: s.Name, Why: TooMany})
		kept--
	}
	slices.SortFunc(want, worst)
	d.Room = max(most-kept, 0)
	for _, s := range want[:min(d.Room, len(want))] {
		d.Taint = append(d.Taint, s.highest(limits))
	}
	d.Spared = len(want) - len(d.Taint)
	return d
}

// Most returns how many of the nodes that work may have the taint.
func Most(share float64, working int) int {
	const rounding = 1e-9 // 29% of 100 are 29.
	return min(max(1, int(share*float64(working)+rounding)), working)
}

// worst compares nodes: those whose values are the highest come first.
func worst(a, b subject) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.Name, b.Name))
}

// follow takes note of readings.
func (k *known) follow(n *Node, limits *policy.Overload, now time.Time) {
	if !n.Works {
		k.trails = [signals]trail{}
	}
	silent := true
	for s := range k.trails {
		if n.Works {
			k.trails[s].follow(&n.Readings[s], Signal(s).Limit(limits), now)
		}
		silent = silent && k.trails[s].level == unknown
	}
	switch {
	case !silent:
		k.silent = time.Time{}
	case k.silent.IsZero() || now.Before(k.silent):
		k.silent = now
	}
}

// isHigh reports whether a signal has been too high for long enough.
func (k *known) isHigh(limits *policy.Overload) bool {
	return slices.ContainsFunc(k.trails[:], func(t trail) bool { return t.lasts(high, limits.For) })
}

// clears reports whether a node must lose the taint, and why.
func (k *known) clears(limits *policy.Overload, now time.Time) (Why, bool) {
	if !k.silent.IsZero() {
		return NotKnown, now.Sub(k.silent) >= Forget
	}
	return LowAgain, !slices.ContainsFunc(k.trails[:], func(t trail) bool { return t.level != unknown && !t.lasts(low, limits.For) })
}

// score returns how high the newest values are, relative to their limits.
func (k *known) score(limits *policy.Overload) (score float64) {
	for s := range k.trails {
		if t := &k.trails[s]; t.level != unknown {
			score = max(score, t.value/Signal(s).Limit(limits))
		}
	}
	return score
}

// highest returns the verdict on a node of which a signal is too high.
func (s *subject) highest(limits *policy.Overload) Verdict {
	v, most := Verdict{Node: s.Name, Why: TooHigh}, 0.0
	for i := range s.trails {
		t := &s.trails[i]
		if over := t.value / Signal(i).Limit(limits); t.lasts(high, limits.For) && over > most {
			v.Signal, v.Value, most = Signal(i), t.value, over
		}
	}
	return v
}
