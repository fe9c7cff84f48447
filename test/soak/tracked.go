package main

import (
	"context"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/policy"
)

const (
	// realignRate is the number of pods per second that are sized again after they have been sized once.
	realignRate = policy.DefaultResizesPerSecond
	// sweepPeriod is the interval at which pods are checked without an event.
	sweepPeriod = time.Second
)

// tracked is the judge's record of one pod.
type tracked struct {
	pod *corev1.Pod
	// ran is when the pod was first seen running. wrong is when it began to run
	// with a size that no ratio in effect gives. Each is zero if that is not the
	// case.
	ran, wrong time.Time
	// needed is whether the pod needed a size other than its original. sized is whether
	// it was given one, or needed none.
	needed, sized bool
	// overdue is whether the problem has been recorded.
	overdue bool
}

// sizings summarizes the pods that were seen running.
type sizings struct {
	Ran int `json:"ran"`
	// Needed counts the pods that needed a size other than their original, and Sized
	// counts the pods that got it.
	Needed int `json:"needed"`
	Sized  int `json:"sized"`
	// The others ended before. DiedYoung had run for less than the allowed time,
	// DiedInOutage were excused, and DiedOverdue had run for longer.
	DiedYoung    int `json:"diedYoung"`
	DiedInOutage int `json:"diedInOutage"`
	DiedOverdue  int `json:"diedOverdue"`
	// First is the time from running to the correct size. Again is the time from a ratio
	// change to the next correct size. Both exclude outages.
	First latencies `json:"first"`
	Again latencies `json:"again"`
}

// latencies are in seconds.
type latencies struct {
	Count int     `json:"count"`
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

func latenciesOf(all []time.Duration) latencies {
	if len(all) == 0 {
		return latencies{}
	}
	sorted := slices.Sorted(slices.Values(all))
	// The smallest value that this share of all values does not exceed.
	at := func(share float64) float64 {
		return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)].Seconds()
	}
	return latencies{len(sorted), at(0.5), at(0.99), at(1)}
}

// sweep checks all pods until ctx is done: a pod that is never sized does not change, and
// so causes no event.
func (j *judge) sweep(ctx context.Context) {
	tick := time.NewTicker(sweepPeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		j.mu.Lock()
		for _, t := range j.pods {
			j.look(t)
		}
		j.mu.Unlock()
	}
}

// track records the current state of a pod.
func (j *judge) track(pod *corev1.Pod) {
	t := j.pods[pod.UID]
	if t == nil {
		t = &tracked{}
		j.pods[pod.UID] = t
	}
	t.pod = pod
	j.look(t)
}

// look compares a pod with the ratios that are in effect now.
func (j *judge) look(t *tracked) {
	if t.pod.Status.Phase != corev1.PodRunning {
		return
	}
	now, size := time.Now(), sizesOf(t.pod.Spec.Containers)
	right := j.gives(t.pod, size, func(time.Time) bool { return false })
	given := size != sizesOf(shapes[t.pod.Labels[shapeLabel]])
	if t.ran.IsZero() {
		t.ran = now
		j.sizings.Ran++
		if t.needed = given || !right; t.needed {
			j.sizings.Needed++
		}
	}
	if t.wrong.IsZero() && (!right || !t.sized) {
		t.wrong = now
	}
	switch {
	case !t.sized && (right || given):
		// check decides whether this size is correct. If its ratio was replaced
		// meanwhile, the pod must be sized again.
		if t.sized = true; t.needed {
			j.sizings.Sized++
			j.took(&j.first, t.wrong, now)
		}
		if t.wrong = (time.Time{}); !right {
			t.wrong = now
		}
	case right:
		if !t.wrong.IsZero() {
			j.took(&j.again, t.wrong, now)
		}
		t.wrong = time.Time{}
	case !t.overdue && j.outages.outside(t.wrong, now) > j.limit(t):
		t.overdue = true
		what := "has run for more than %v without being sized"
		if t.sized {
			what = "was not sized again within %v of a ratio change"
		}
		j.note("pod %s "+what+": it has %s", t.pod.Name, j.limit(t), size)
	}
}

// limit returns how long a pod may have a wrong size. After a ratio change, pods that
// have been sized wait for their turn. New pods do not wait.
func (j *judge) limit(t *tracked) time.Duration {
	if !t.sized {
		return j.within
	}
	return j.within + time.Duration(float64(j.population)/realignRate*float64(time.Second))
}

// took records how long a pod waited, unless there was an outage.
func (j *judge) took(all *[]time.Duration, from, to time.Time) {
	if !j.outages.touch(from, to) {
		*all = append(*all, to.Sub(from))
	}
}

// ended records that a pod is gone.
func (j *judge) ended(pod *corev1.Pod) {
	t := j.pods[pod.UID]
	if t == nil {
		return
	}
	// Only now is it known how long the pod ran in its last state.
	j.look(t)
	delete(j.pods, pod.UID)
	switch {
	case t.ran.IsZero() || t.sized:
	case t.overdue:
		j.sizings.DiedOverdue++
	case j.outages.touch(t.wrong, time.Now()):
		j.sizings.DiedInOutage++
	default:
		j.sizings.DiedYoung++
	}
}
