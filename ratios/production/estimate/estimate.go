package estimate

import (
	"math"
	"slices"
	"strings"

	"github.com/workload-resizer/workload-resizer/internal/student"
	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// Interval is a ratio with its confidence interval.
type Interval struct{ Ratio, Low, High float64 }

// finite reports whether an interval is one: evidence that was damaged may have numbers beyond all bounds.
func (i Interval) finite() bool {
	const beyond = 1e6
	return i.Low > 1/beyond && i.Low <= i.Ratio && i.Ratio <= i.High && i.High < beyond
}

// half returns the half-width of the interval, as a fraction of the ratio.
func (i Interval) half() float64 { return math.Sqrt(i.High/i.Low) - 1 }

// Type is how fast a node type is for the workloads that run on it.
type Type struct {
	NodeType string
	// Cluster is the ratio for the mean of this cluster's workloads, weighted by the cores that they use on
	// the type, and Population
	// the one for the mean of workloads like these. Next is the interval for a workload that was not measured.
	// They are 0 if no workload compares the type with the baseline, or if nothing follows from the comparison.
	Cluster, Population, Next Interval
	// Workloads is how many workloads that count ran on the type, Nodes on how many nodes, and Hours for how many hours
	// of the upper half of their load together. Until enough of them are judged, others count, too, and doubts say so.
	Workloads, Nodes int
	Hours            float64
	// Held is how many workloads that ran on the type do not count, by reason.
	Held map[Reason]int
	// Doubts are why the ratio must not be applied automatically; empty if it can be.
	Doubts []Doubt
}

// Workload is what is known of a workload.
type Workload struct {
	Key evidence.Key
	// Held is why it does not count for ratios that may be applied; "" if it does. Honest is the probability that it does not mislead.
	Held   Reason
	Honest float64
	// Types are the node types on which it was compared, without the baseline, sorted by name. Only workloads that count have any.
	Types []WorkloadType
}

// Result is what all evidence says.
type Result struct {
	// Types are sorted by name, without the baseline. Workloads are sorted by key.
	Types     []Type
	Workloads []Workload
	// Between is how much workloads differ from each other, and Nodes how much the nodes of a type do: standard
	// deviations as fractions.
	Between, Nodes float64
	// Latest is the last hour in which types were compared, in hours since 1970; 0 if there is none.
	Latest int64
}

// Estimate compares all node types with the baseline. It only reads the evidence; who adds to it meanwhile passes a Clone.
func Estimate(e *evidence.Evidence, baseline string, s Settings) Result {
	k := factsOf(e, baseline, &s)
	result := k.estimate(judged)
	k.showFirst(&result)
	return result
}

// facts are what follows from evidence, whichever workloads count: how busy nodes slow work down, how nodes, zones and CPU models differ, and
// how busy the nodes of each type are.
type facts struct {
	e      *evidence.Evidence
	s      *Settings
	base   int
	latest int64
	slow   []slowdown
	nodes  nodes
	busy   busy
	zones  []float64
}

func factsOf(e *evidence.Evidence, baseline string, s *Settings) *facts {
	k := &facts{e: e, s: s, base: slices.Index(e.Types, baseline), latest: latestOf(e), slow: make([]slowdown, len(e.Types))}
	// How slow busy nodes are tells how nodes differ apart from that, and the other way round.
	for range 3 {
		k.nodes = nodesOf(e, k.slow, k.latest, s)
		k.slow = slowdowns(e, &k.nodes)
	}
	k.busy = busyOf(e, k.latest)
	k.zones = zonesOf(e, k.base, &k.nodes, k.latest, s)
	return k
}

// estimate compares all node types by the workloads that count for a use.
func (k *facts) estimate(of use) Result {
	e, s, base, nodes, slow, busy := k.e, k.s, k.base, &k.nodes, k.slow, &k.busy
	all := workloads(e, slow, busy, k.latest, of, s)
	m := fit(all, len(e.Types), base, s)
	// Each fit shows which workloads can teach whether sizes matter: first those with hours with like sizes, and then those that show
	// by themselves that their other hours count.
	for range 2 {
		m.teach()
		if !merge(all, of, s) {
			break
		}
		recheck(all, of, s)
		m = fit(all, len(e.Types), base, s)
	}
	result := Result{Between: math.Sqrt(m.between), Nodes: math.Sqrt(nodes.variance), Latest: comparedIn(e)}
	for i := range all {
		if w := &all[i]; w.held == "" {
			w.held = w.judged
		}
	}
	shared, off := make([]float64, len(e.Types)), m.off()
	for t, name := range e.Types {
		if t == base {
			continue
		}
		x := Type{NodeType: name, Nodes: nodes.kinds[t].count, Held: heldOn(all, t)}
		found := known{sizes: 1, of: nodes.kinds[t], zones: k.zones[t]}
		found.votes, found.alike, found.cores = m.count(&x, t)
		found.cores /= max(coresOn(all, t), 1e-12)
		if base >= 0 && m.connected[t] {
			shared[t] = nodes.variance*(found.of.shares+nodes.kinds[base].shares) + busy.uncertain(t, slow) + busy.uncertain(base, slow) + off[t]*off[t]
			m.intervals(&x, t, all, found.alike, shared[t], nodes.freedom, s)
			if !x.Cluster.finite() || !x.Population.finite() || !x.Next.finite() {
				x.Cluster, x.Population, x.Next = Interval{}, Interval{}, Interval{}
			}
			found.base = nodes.kinds[base]
			found.unknown = 1 - min(busy.kinds[t].known, busy.kinds[base].known)
			found.unknownHalf = student.Quantile(s.Confidence, nodes.freedom) * math.Sqrt(busy.unknown(t, slow)+busy.unknown(base, slow))
		}
		if of == shown {
			found.first, found.wait, found.sizes = true, m.wait(t, s), m.sizes(t, s)
		}
		x.Doubts = doubts(&x, &found, s)
		result.Types = append(result.Types, x)
	}
	slices.SortFunc(result.Types, func(a, b Type) int { return strings.Compare(a.NodeType, b.NodeType) })
	deviations := m.deviations(nodes, s)
	for i := range all {
		w := Workload{Key: all[i].key, Held: all[i].held, Honest: all[i].honest}
		if w.Held == "" {
			w.Types = m.singles(&all[i], e.Types, result.Types, nodes, shared, deviations)
		}
		result.Workloads = append(result.Workloads, w)
	}
	return result
}

// count fills how many workloads that count ran on a type, and for how long. It returns their votes, as how many workloads
// with alike votes they count, and how many cores they use there.
func (m *model) count(x *Type, t int) (votes, alike, cores float64) {
	squares := 0.0
	for i := range m.workloads {
		o := &m.workloads[i]
		if o.w.held != "" || !slices.Contains(o.types, t) {
			continue
		}
		x.Workloads++
		votes += o.w.votes
		squares += o.w.votes * o.w.votes
		cores += o.w.cores[t]
		for _, p := range o.w.pairs {
			if p.a == t || p.b == t {
				x.Hours += p.hours
			}
		}
	}
	return votes, votes * votes / max(squares, 1e-12), cores
}

// coresOn returns how many cores all workloads use on a type.
func coresOn(all []workload, t int) float64 {
	cores := 0.0
	for i := range all {
		cores += all[i].cores[t]
	}
	return cores
}

// heldOn returns how many workloads that ran on a type do not count, by reason.
func heldOn(all []workload, t int) map[Reason]int {
	held := map[Reason]int{}
	for i := range all {
		if all[i].held != "" && all[i].cores[t] > 0 {
			held[all[i].held]++
		}
	}
	return held
}

// intervals fills the ratios of a type. Shared is the variance that no number of workloads reduces.
func (m *model) intervals(x *Type, t int, all []workload, alike, shared, sharedFreedom float64, s *Settings) {
	own := m.covariance.at(t, t)
	free := max(min(m.freedom, alike+s.BetweenWeight-1), 1)
	x.Population = between(m.speed[t], own, free, shared, sharedFreedom, s)
	x.Next = between(m.speed[t], own+m.between, m.freedom, shared, sharedFreedom, s)

	cores := coresOn(all, t)
	mean, variance := m.speed[t], 0.0
	contrast := make([]float64, m.types)
	contrast[t] = 1
	for i := range all {
		w := &all[i]
		part := w.cores[t] / max(cores, 1e-12)
		switch {
		case part == 0:
		case w.place < 0:
			variance += part * part * m.between
		default:
			deviation, v := m.workloads[w.place].predict(m, t, part, contrast)
			mean += part * deviation
			variance += part * part * v
		}
	}
	contrast[m.base] = 0
	x.Cluster = between(mean, m.quadratic(contrast)+variance, free, shared, sharedFreedom, s)
}

// between returns the interval around a logarithm whose variance has two parts, each with its degrees of freedom
// (Satterthwaite).
func between(log, a, freeA, b, freeB float64, s *Settings) Interval {
	free := (a + b) * (a + b) / (a*a/freeA + b*b/freeB)
	half := student.Quantile(s.Confidence, free) * math.Sqrt(a+b)
	return Interval{math.Exp(log), math.Exp(log - half), math.Exp(log + half)}
}
