package production

import (
	"github.com/workload-resizer/workload-resizer/ratios"
)

// Contradiction is a ratio of another source that production contradicts.
type Contradiction struct {
	// NodeType is the node type, and Source the source that has the other ratio.
	NodeType, Source string
	// Ratio is that ratio, relative to the baseline of the view.
	Ratio float64
}

// Contradictions returns the ratios in effect in a table that are from other sources and lie outside of both intervals of a suggestion that
// is not held back, by node type. A ratio that is not in effect does no harm.
func (v *View) Contradictions(table *ratios.Table) []Contradiction {
	base, ok := table.Lookup(v.Baseline)
	if !ok {
		return nil
	}
	var all []Contradiction
	for i := range v.Suggestions {
		s := &v.Suggestions[i]
		entry, ok := table.Lookup(s.NodeType)
		if !ok {
			continue
		}
		ratio := entry.Ratio.CPUPerf / base.Ratio.CPUPerf
		if source := entry.Ratio.Provenance.Source; source != Source && s.Contradicts(ratio, ratio) {
			all = append(all, Contradiction{s.NodeType, source, ratio})
		}
	}
	return all
}

// Contradicts reports whether an interval of another source overlaps none of the two of a suggestion that is not held back: the type
// is neither as fast for the mean of the workloads nor for any single one.
func (s *Suggestion) Contradicts(low, high float64) bool {
	if !s.good() {
		return false
	}
	return (high < s.Cluster.Low || low > s.Cluster.High) && (high < s.Next.Low || low > s.Next.High)
}
