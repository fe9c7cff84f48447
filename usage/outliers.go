package usage

import (
	"math"

	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// outlier is from which share of the memory that a container needs a pod is an outlier. Those below may not become
// one before the next publication: a need that has moved by less than 2% is not applied.
const outlier = 0.8

// need is how much memory a container needs on the baseline of a set of ratios.
type need struct {
	speeds recommend.Speeds
	memory int64
}

// least is what a container needs under each of its sets of ratios.
type least []need

// on returns from which usage of memory on a node type a pod is an outlier under any set of ratios.
func (l least) on(nodeType string) int64 {
	from := float64(math.MaxInt64)
	for _, of := range l {
		if speed, known := of.speeds(nodeType); known && speed.Memory > 0 {
			from = min(from, outlier*float64(of.memory)/speed.Memory)
		}
	}
	if from >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(from)
}
