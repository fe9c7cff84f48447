package measure

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/agent/kernel"
)

// Budget is how long a full measurement may take in all, SpotBudget a spot check.
const (
	Budget     = 20 * time.Second
	SpotBudget = 2 * time.Second
)

// Limits are what of a machine may be used.
type Limits struct {
	// CPUs are the vCPUs, at least one.
	CPUs []int
	// Sharing is with how many of CPUs each of them shares its core, itself
	// counted; nil if all share alike.
	Sharing []int
	// Quota is how many CPUs' time; 0 is no limit.
	Quota float64
	// CacheBytes is the size of the last-level caches together; 0 if that is not
	// known.
	CacheBytes int64
	// MemoryBytes is how much memory; 0 is no limit.
	MemoryBytes int64
}

// kinds are the threads, one per vCPU, that are as fast as each other: those that
// share their cores with as many others.
func (l *Limits) kinds() [][]int {
	bySharing := map[int][]int{}
	for thread := range l.CPUs {
		sharing := 0
		if thread < len(l.Sharing) {
			sharing = l.Sharing[thread]
		}
		bySharing[sharing] = append(bySharing[sharing], thread)
	}
	var kinds [][]int
	for _, sharing := range slices.Sorted(maps.Keys(bySharing)) {
		kinds = append(kinds, bySharing[sharing])
	}
	return kinds
}

// Score is what a machine got done of a kernel: of threads that are alike, the
// median of the fastest quarter of their repetitions.
type Score struct {
	Kernel kernel.Kernel
	// All is the throughput of all vCPUs together and Single that of one thread
	// alone, in the kernel's unit; All is 0 in a spot check.
	All, Single float64
	// Spread is that of the fastest quarter as a share of its median, the larger
	// one of all vCPUs and one.
	Spread float64
	// Disturbed is the share of the repetitions that were slower than their
	// score by more than 10 %: how often something was in the way.
	Disturbed float64
	// Runs is how many repetitions the score is made of, at least 3: with all
	// vCPUs, or with one in a spot check.
	Runs int
}

// Skip is a kernel without a score.
type Skip struct{ Kernel, Reason string }

// Full measures the kernels in turn, all within the budget. The error is ctx's, or
// says that there is no score at all.
func Full(ctx context.Context, kernels []kernel.Kernel, l Limits, budget time.Duration) ([]Score, []Skip, error) {
	fit := fitting(len(kernels), len(l.CPUs), l.Quota, budget)
	if fit == 0 {
		return nil, nil, fmt.Errorf("the CPU quota of %v CPUs lets too little be measured of %d vCPUs within %v: raise it, or set none", l.Quota, len(l.CPUs), budget)
	}
	var skipped []Skip
	for _, k := range kernels[fit:] {
		skipped = append(skipped, Skip{k.Name, fmt.Sprintf("the CPU quota of %v CPUs leaves no time for it", l.Quota)})
	}
	kernels, memory, left := withMemory(kernels[:fit], l)
	skipped = append(skipped, left...)
	scores, left, err := run(ctx, kernels, l, memory, budget)
	skipped = append(skipped, left...)
	switch {
	case err != nil:
		return nil, nil, err
	case len(scores) == 0:
		return nil, skipped, fmt.Errorf("no kernel was measured within %v, the last because %s", budget, skipped[len(skipped)-1].Reason)
	}
	return scores, skipped, nil
}

// Spot measures one thread alone. The error is ctx's, or says that a kernel has no
// score.
func Spot(ctx context.Context, kernels []kernel.Kernel, l Limits, budget time.Duration) ([]Score, error) {
	l.CPUs = l.CPUs[:1]
	scores, skipped, err := run(ctx, kernels, l, 0, budget)
	switch {
	case err != nil:
		return nil, err
	case len(skipped) > 0:
		return nil, fmt.Errorf("measure %s: %s", skipped[0].Kernel, skipped[0].Reason)
	}
	for i := range scores {
		scores[i].All = 0
	}
	return scores, nil
}

// run measures the kernels, each memory kernel with so much memory.
func run(ctx context.Context, kernels []kernel.Kernel, l Limits, memory int64, budget time.Duration) ([]Score, []Skip, error) {
	if len(kernels) == 0 {
		return nil, nil, nil
	}
	within, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	defer tune(len(l.CPUs), memory*memoryKernels(kernels), l.MemoryBytes)()
	threads := newCrew(l.CPUs)
	defer threads.dismiss()
	trials := make([]*trial, len(kernels))
	for i, k := range kernels {
		trials[i] = newTrial(threads, k, l.kinds(), int(memory))
	}
	err := rounds(within, trials)
	switch {
	case ctx.Err() != nil:
		return nil, nil, context.Cause(ctx)
	case err != nil:
		return nil, nil, err
	}
	var scores []Score
	var skipped []Skip
	for _, t := range trials {
		if s, ok := t.score(); ok {
			scores = append(scores, s)
		} else {
			skipped = append(skipped, Skip{t.kernel.Name, "the time was up before it was repeated 3 times"})
		}
	}
	return scores, skipped, nil
}
