package production

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/measured"
	"github.com/workload-resizer/workload-resizer/ratios/production/estimate"
	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// Suggestion is what production shows of one node type. It is stored as this JSON.
type Suggestion struct {
	NodeType string `json:"nodeType"`
	// Cluster is the ratio to the baseline for the mean of this cluster's workloads, and Next the same with the interval for
	// a workload that was not measured. They are zero if no workload compares the type with the baseline.
	Cluster Interval `json:"cluster,omitzero"`
	Next    Interval `json:"next,omitzero"`
	// Workloads is how many workloads count, Nodes on how many nodes of the type they ran, and Hours for how many hours.
	Workloads int     `json:"workloads,omitempty"`
	Nodes     int     `json:"nodes,omitempty"`
	Hours     float64 `json:"hours,omitempty"`
	// Unlike are workloads whose interval excludes the ratio for the cluster, at most MostUnlike, those first that differ most for the
	// cores that they use. There are none unless the ratio is good enough: what holds it back holds back theirs.
	Unlike []Single `json:"unlike,omitempty"`
	// Held is how many workloads do not count, by reason.
	Held map[string]int `json:"held,omitempty"`
	// Doubts are why the ratio is held back, and what would remove the doubt; empty if it is good enough.
	Doubts []Doubt `json:"doubts,omitempty"`
	// Supported is when the evidence ended by which the ratio was last good enough; zero if it never was.
	Supported time.Time `json:"supported,omitzero"`
}

// Interval is a ratio with its confidence interval.
type Interval struct {
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Doubt is why a ratio is held back.
type Doubt struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// Known reports whether there is a ratio.
func (s *Suggestion) Known() bool { return s.Cluster.Ratio > 0 }

// Why describes on one line what the ratio is computed from.
func (s *Suggestion) Why() string {
	text := fmt.Sprintf("%.2f (%.2f to %.2f) from %s on %s", s.Cluster.Ratio, s.Cluster.Low, s.Cluster.High, count(s.Workloads, "workload"), count(s.Nodes, "node"))
	if len(s.Doubts) == 0 {
		return text
	}
	codes := make([]string, len(s.Doubts))
	for i, d := range s.Doubts {
		codes[i] = d.Code
	}
	return text + ", held back: " + strings.Join(codes, ", ")
}

// count returns a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// good reports whether there is a ratio that is good enough to follow.
func (s *Suggestion) good() bool { return s.Known() && len(s.Doubts) == 0 }

// life is how long ratios stay that are not good enough any longer: for as long as evidence that is not added to. It may be lost, and
// is collected again within days.
const life = 2 * evidence.HalfLife * time.Hour

// target returns what ratios follow at a time; nothing if the ratio has not been good enough for too long.
func (s *Suggestion) target(at time.Time) measured.Target {
	if !s.good() {
		return measured.Target{HeldBack: at.Sub(s.Supported) <= life}
	}
	return measured.Target{Ratio: measured.Significant(s.Cluster.Ratio), Low: s.Cluster.Low, High: s.Cluster.High, Why: s.Why()}
}

// check returns what is wrong with a stored suggestion.
func (s *Suggestion) check() error {
	if s.NodeType == "" {
		return errors.New("must have a node type")
	}
	for _, i := range [...]Interval{s.Cluster, s.Next} {
		if i != (Interval{}) && !i.valid() {
			return i.invalid()
		}
	}
	if len(s.Unlike) > MostUnlike {
		return fmt.Errorf("must name at most %d workloads, not %d", MostUnlike, len(s.Unlike))
	}
	for i := range s.Unlike {
		if of := s.Unlike[i].Interval; !of.valid() {
			return of.invalid()
		}
	}
	return nil
}

func (i Interval) invalid() error {
	return fmt.Errorf("must have a ratio above 0 within its interval, not %v from %v to %v", i.Ratio, i.Low, i.High)
}

func (i Interval) valid() bool {
	return 0 < i.Low && i.Low <= i.Ratio && i.Ratio <= i.High && !math.IsInf(i.High, 0)
}

// suggestions returns the suggestions of an estimate, by node type. Node types of the cluster of which nothing is known have one,
// too: it says what would let them be known.
func suggestions(of estimate.Result, baseline string, cluster []string) []Suggestion {
	var all []Suggestion
	for i := range of.Types {
		t := &of.Types[i]
		s := suggestion(t)
		if s.good() {
			s.Unlike = unlike(&of, t)
		}
		// Evidence keeps the names of types that are gone.
		if s.Known() || slices.Contains(cluster, s.NodeType) {
			all = append(all, s)
		}
	}
	for _, name := range cluster {
		if name != baseline && !slices.ContainsFunc(all, func(s Suggestion) bool { return s.NodeType == name }) {
			all = append(all, Suggestion{NodeType: name, Doubts: []Doubt{{string(estimate.NotCompared),
				fmt.Sprintf("no workload has had two replicas on %s and two on %s, in the same zone and hour: let a workload with four replicas or more run on both, for about 3 days", name, baseline)}}})
		}
	}
	slices.SortFunc(all, func(a, b Suggestion) int { return strings.Compare(a.NodeType, b.NodeType) })
	return all
}

func suggestion(t *estimate.Type) Suggestion {
	s := Suggestion{
		NodeType: t.NodeType, Cluster: Interval(t.Cluster), Next: Interval(t.Next),
		Workloads: t.Workloads, Nodes: t.Nodes, Hours: math.Round(t.Hours),
	}
	for reason, n := range t.Held {
		if s.Held == nil {
			s.Held = make(map[string]int, len(t.Held))
		}
		s.Held[string(reason)] = n
	}
	for _, d := range t.Doubts {
		s.Doubts = append(s.Doubts, Doubt{string(d.Code), d.Detail})
	}
	if !s.Cluster.valid() || !s.Next.valid() {
		s.Cluster, s.Next = Interval{}, Interval{}
	}
	return s
}
