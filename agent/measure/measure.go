package measure

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/agent/kernel"
)

// Budget is how long a full run may take in all. SpotBudget is how long a spot check may take.
const (
	Budget     = 20 * time.Second
	SpotBudget = 2 * time.Second
)

// Limits are the resources of a machine that a measurement may use.
type Limits struct {
	// CPUs are the vCPUs, at least one.
	CPUs []int
	// Sharing has an element for each of CPUs: how many of CPUs share its core, itself
	// included. It is nil if all are alike.
	Sharing []int
	// Quota is the CPU quota, in CPUs; 0 means no limit.
	Quota float64
	// CacheBytes is the total size of the last-level caches; 0 if unknown.
	CacheBytes int64
	// MemoryBytes is the memory limit; 0 means no limit.
	MemoryBytes int64
}

// kinds groups the threads, one per vCPU, by speed. Threads are equally fast if they share
// their cores with the same number of threads.
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

// Score is the throughput of a machine for a kernel. It is based on the median of the fastest
// quarter of the repetitions of equally fast threads.
type Score struct {
	Kernel kernel.Kernel
	// All is the throughput of all vCPUs together, and Single is the throughput of one thread
	// alone, in the kernel's unit. All is 0 in a spot check.
	All, Single float64
	// Spread is the deviation within the fastest quarter as a share of its median: the larger
	// of the deviations with all vCPUs and with one thread.
	Spread float64
	// Disturbed is the share of the repetitions that were slower than the score by more than
	// 10%.
	Disturbed float64
	// Runs is how many repetitions the score is based on, at least 3. They use all vCPUs, or
	// one in a spot check.
	Runs int
}

// Skip is a kernel that has no score.
type Skip struct{ Kernel, Reason string }

// Full measures the kernels in turn within the budget. It returns an error if ctx is done, if
// a kernel fails, or if no kernel has a score.
func Full(ctx context.Context, kernels []kernel.Kernel, l Limits, budget time.Duration) ([]Score, []Skip, error) {
	fit := fitting(len(kernels), len(l.CPUs), l.Quota, budget)
	if fit == 0 {
		return nil, nil, fmt.Errorf("a CPU quota of %v CPUs is too low to measure %d vCPUs within %v: raise or remove the quota", l.Quota, len(l.CPUs), budget)
	}
	var skipped []Skip
	for _, k := range kernels[fit:] {
		skipped = append(skipped, Skip{k.Name, fmt.Sprintf("a CPU quota of %v CPUs leaves no time for it", l.Quota)})
	}
	kernels, memory, left := withMemory(kernels[:fit], l)
	skipped = append(skipped, left...)
	scores, left, err := run(ctx, kernels, l, memory, budget)
	skipped = append(skipped, left...)
	switch {
	case err != nil:
		return nil, nil, err
	case len(scores) == 0:
		return nil, skipped, fmt.Errorf("no kernel was measured within %v; the last was skipped: %s", budget, skipped[len(skipped)-1].Reason)
	}
	return scores, skipped, nil
}

// Spot measures one thread alone. It returns an error if ctx is done, if a kernel fails, or if
// a kernel has no score.
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

// outOfTime is why a kernel has no score if the budget was too short for it.
const outOfTime = "time ran out before 3 repetitions"

// run measures the kernels. Each memory kernel uses that much memory.
func run(ctx context.Context, kernels []kernel.Kernel, l Limits, memory int64, budget time.Duration) ([]Score, []Skip, error) {
	if len(kernels) == 0 {
		return nil, nil, nil
	}
	within, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	heap, data := newHeap(kernels, len(l.CPUs), l.MemoryBytes), memory*memoryKernels(kernels)
	kernels, skipped := heap.withHeap(kernels, data)
	defer tune(len(l.CPUs), heap.most(kernels, data))()
	threads := newCrew(l.CPUs, settleOn)
	defer threads.dismiss()
	var trials []*trial
	for _, k := range kernels {
		// Data for the kernels takes seconds to create, and far longer next to other processes.
		switch {
		case ctx.Err() != nil:
			return nil, nil, context.Cause(ctx)
		case within.Err() != nil:
			skipped = append(skipped, Skip{k.Name, outOfTime})
		default:
			trials = append(trials, newTrial(threads, k, l.kinds(), int(memory)))
		}
	}
	if len(trials) == 0 {
		return nil, skipped, nil
	}
	err := rounds(within, trials)
	switch {
	case ctx.Err() != nil:
		return nil, nil, context.Cause(ctx)
	case err != nil:
		return nil, nil, err
	}
	var scores []Score
	for _, t := range trials {
		if s, ok := t.score(); ok {
			scores = append(scores, s)
		} else {
			skipped = append(skipped, Skip{t.kernel.Name, outOfTime})
		}
	}
	return scores, skipped, nil
}
