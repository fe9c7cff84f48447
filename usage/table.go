package usage

import (
	"iter"
	"maps"

	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// Ratios are the speeds of node types under one rule. Rules differ in their baseline and their
// ratios, so a container may need different amounts under each of them.
type Ratios struct {
	// Name distinguishes sets of ratios.
	Name   string
	Speeds recommend.Speeds
}

// Key is the key of a demand.
type Key struct {
	history.Container
	// Ratios is the name of the set of ratios.
	Ratios string
}

// Table is what containers need, in units of the baseline of each set of ratios. It is immutable.
type Table struct {
	// Revision grows with each change.
	Revision uint64
	demands  map[Key]recommend.Recommendation
	// peaks are the highest usage of memory of pods that use far more than others.
	peaks map[history.Container]map[history.PodID]int64
}

// Demand returns what a container needs, and whether this is known.
func (t *Table) Demand(k Key) (recommend.Recommendation, bool) {
	r, known := t.demands[k]
	return r, known
}

// Peak returns the highest usage of memory that a container of a pod had within the last seven days, in bytes on its
// node, if that may be more than what the container needs; 0 if it is not.
func (t *Table) Peak(c history.Container, uid string) int64 { return t.peaks[c][history.IDOf(uid)] }

// Fell returns the containers of which the peak of a pod is lower than in another table.
func (t *Table) Fell(before *Table) (all []history.Container) {
	for c, peaks := range before.peaks {
		for pod, peak := range peaks {
			if t.peaks[c][pod] < peak {
				all = append(all, c)
				break
			}
		}
	}
	return all
}

// All yields all demands, in no particular order.
func (t *Table) All() iter.Seq2[Key, recommend.Recommendation] { return maps.All(t.demands) }

// Len returns the number of demands.
func (t *Table) Len() int { return len(t.demands) }

// same reports whether two tables recommend the same sizes.
func same(a, b map[Key]recommend.Recommendation) bool {
	return maps.EqualFunc(a, b, func(x, y recommend.Recommendation) bool {
		return x.Target == y.Target && x.Lower == y.Lower && x.Upper == y.Upper && x.Uncapped == y.Uncapped
	})
}
