package production

import (
	"github.com/workload-resizer/workload-resizer/ratios"
)

// Contradiction is a ratio of another source that production contradicts.
type Contradiction struct {
	// NodeType is the node type, and Source the source that has or suggests the other ratio.
	NodeType, Source string
	// Ratio is that ratio, relative to the baseline of the view.
	Ratio float64
}

// Suggested is what another source suggests for a node type and does not hold back, with the ends of its interval. It is relative to the
// baseline of the view.
type Suggested struct {
	NodeType, Source string
	Ratio, Low, High float64
}

// Contradictions returns, by node type, the ratios of other sources that lie outside of both intervals of a suggestion that is not
// held back: the one in effect in a table, then those that others suggest. A ratio that is neither does no harm. No source is named
// twice for a type.
func (v *View) Contradictions(table *ratios.Table, suggested []Suggested) []Contradiction {
	base, ok := table.Lookup(v.Baseline)
	if !ok {
		return nil
	}
	var all []Contradiction
	for i := range v.Suggestions {
		s := &v.Suggestions[i]
		effective := ""
		if entry, ok := table.Lookup(s.NodeType); ok {
			ratio := entry.Ratio.CPUPerf / base.Ratio.CPUPerf
			if source := entry.Ratio.Provenance.Source; source != Source && s.contradicts(ratio, ratio) {
				all, effective = append(all, Contradiction{s.NodeType, source, ratio}), source
			}
		}
		for _, x := range suggested {
			if x.NodeType == s.NodeType && x.Source != effective && s.contradicts(x.Low, x.High) {
				all = append(all, Contradiction{x.NodeType, x.Source, x.Ratio})
			}
		}
	}
	return all
}

// contradicts reports whether an interval of another source overlaps none of the two of a suggestion that is not held back: the type
// is neither as fast for the mean of the workloads nor for any single one.
func (s *Suggestion) contradicts(low, high float64) bool {
	if !s.good() {
		return false
	}
	return (high < s.Cluster.Low || low > s.Cluster.High) && (high < s.Next.Low || low > s.Next.High)
}
