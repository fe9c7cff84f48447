package main

import (
	"context"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

const (
	// realignRate is the servers' --realign-rate, which deploy/base leaves as it is:
	// so many pods that have been sized are sized anew per second.
	realignRate = 20
	// sweepPeriod is how often pods of which nothing is heard are looked at.
	sweepPeriod = time.Second
)

// tracked is what is known of one pod.
type tracked struct {
	pod *corev1.Pod
	// ran is since when it was seen to run, wrong since when it runs with a size that
	// no ratio in force gives; zero for not.
	ran, wrong time.Time
	// needed tells that it was to get another size than its owner wrote, sized that it
	// has been given one, or needed none.
	needed, sized bool
	// overdue tells that this has been noted.
	overdue bool
}

// sizings are how pods fared that were seen to run.
type sizings struct {
	Ran int `json:"ran"`
	// Needed were to get another size than their owners wrote, and Sized got it.
	Needed int `json:"needed"`
	Sized  int `json:"sized"`
	// The others ended before: DiedYoung had run for less time than that may take,
	// DiedInOutage were excused, and DiedOverdue are the ones that were left out.
	DiedYoung    int `json:"diedYoung"`
	DiedInOutage int `json:"diedInOutage"`
	DiedOverdue  int `json:"diedOverdue"`
	// First is from running to the right size, Again from a changed ratio to the next
	// right size, of pods that did so outside of outages.
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
	// The least that so many do not exceed.
	at := func(share float64) float64 {
		return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)].Seconds()
	}
	return latencies{len(sorted), at(0.5), at(0.99), at(1)}
}

// sweep looks at all pods until ctx is done: one that is left alone does not change,
// and so tells nothing.
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

// track takes note of the present state of a pod.
func (j *judge) track(pod *corev1.Pod) {
	t := j.pods[pod.UID]
	if t == nil {
		t = &tracked{}
		j.pods[pod.UID] = t
	}
	t.pod = pod
	j.look(t)
}

// look holds a pod against the ratios that are in force now.
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
		// Whether the size that it was given is right, check says; if its ratio was
		// replaced meanwhile, the pod is one to be sized anew.
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
		what := "has run for more than %v without having been sized"
		if t.sized {
			what = "has not been sized anew within %v of a change of ratios"
		}
		j.note("pod %s "+what+": it has %s", t.pod.Name, j.limit(t), size)
	}
}

// limit is how long a pod may have a wrong size. All those that have been sized wait
// for their turn if a ratio changes, and new ones for nothing.
func (j *judge) limit(t *tracked) time.Duration {
	if !t.sized {
		return j.within
	}
	return j.within + time.Duration(float64(j.population)/realignRate*float64(time.Second))
}

// took keeps how long a pod waited, unless there was an outage.
func (j *judge) took(all *[]time.Duration, from, to time.Time) {
	if !j.outages.touch(from, to) {
		*all = append(*all, to.Sub(from))
	}
}

// ended takes note that a pod is gone.
func (j *judge) ended(pod *corev1.Pod) {
	t := j.pods[pod.UID]
	if t == nil {
		return
	}
	// Whatever its last state is, how long it ran is now known.
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
