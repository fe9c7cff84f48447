package estimate

import (
	"cmp"
	"math"
	"slices"
)

// use is what a ratio may be used for: to be applied, if it has no doubts, or only to be shown, days before.
type use int

const (
	// judged workloads were compared on enough days to show whether slower replicas get less of the work. Only they count for ratios that
	// may be applied.
	judged use = iota
	// shown are also those that were compared for about a day: honest workloads are the most by far.
	shown
)

// showFirst replaces types that too few workloads are judged of by what more of them show so far.
func (k *facts) showFirst(r *Result) {
	var first Result
	for i := range r.Types {
		x := &r.Types[i]
		if !x.few() {
			continue
		}
		if first.Types == nil {
			first = k.estimate(shown)
		}
		if y := &first.Types[i]; y.Workloads > x.Workloads && y.Cluster.Ratio > 0 {
			*x = *y
		}
	}
}

// few reports whether too few workloads count on a type.
func (x *Type) few() bool {
	return slices.ContainsFunc(x.Doubts, func(d Doubt) bool { return d.Code == NotCompared || d.Code == TooFewWorkloads })
}

// countOn returns the workloads that count on a type: first those that are judged, then those that are soon.
func (m *model) countOn(t int, s *Settings) []*workload {
	var all []*workload
	for i := range m.workloads {
		if o := &m.workloads[i]; o.w.held == "" && slices.Contains(o.types, t) {
			all = append(all, o.w)
		}
	}
	slices.SortStableFunc(all, func(a, b *workload) int { return cmp.Compare(a.wait(s), b.wait(s)) })
	return all
}

// wait returns after how many more days enough of the workloads that count on a type are judged, or all if too few count.
func (m *model) wait(t int, s *Settings) float64 {
	days, votes := 0.0, 0.0
	for _, w := range m.countOn(t, s) {
		if math.Round(votes) >= float64(s.MinWorkloads) {
			break
		}
		days, votes = w.wait(s), votes+w.votes
	}
	return days
}

// wait returns after how many more days a workload is judged, if its load goes on to vary.
func (x *workload) wait(s *Settings) float64 {
	days := (s.MinHours - x.hours) / (movedHours * float64(max(len(x.compared), 1)))
	if !x.known {
		days = max(days, s.MinDays-x.days)
	}
	return max(math.Ceil(days), 0)
}

// sizes returns the factor between the sizes of replicas on a type and on those that it is compared with, unless enough workloads are judged of which
// it is known that this does not matter: then 1.
func (m *model) sizes(t int, s *Settings) float64 {
	sure, sum, hours := 0.0, 0.0, 0.0
	for _, w := range m.countOn(t, s) {
		if w.unsure == 0 {
			if w.wait(s) == 0 {
				sure += w.votes
			}
			continue
		}
		for _, p := range w.pairs {
			if p.a == t || p.b == t {
				sum += math.Abs(p.sizes) * p.hours
				hours += p.hours
			}
		}
	}
	if hours == 0 || math.Round(sure) >= float64(s.MinWorkloads) {
		return 1
	}
	return math.Exp(sum / hours)
}
