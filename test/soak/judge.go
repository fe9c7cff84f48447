package main

import (
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// judge watches the pods and records everything that goes wrong with them.
type judge struct {
	history *history
	outages *outages
	// within is how long a pod may run without being sized, and how long a replaced ratio
	// may still determine sizes: a resize may be in flight.
	within time.Duration
	// population is the number of pods at any time.
	population int

	mu       sync.Mutex
	problems []string
	created  int
	resizes  int
	pods     map[types.UID]*tracked
	sizings  sizings
	// first and again are the samples for the latencies of sizings.
	first, again []time.Duration
}

func newJudge(h *history, o *outages, within time.Duration, population int) *judge {
	return &judge{history: h, outages: o, within: within, population: population, pods: map[types.UID]*tracked{}}
}

// note records a problem, up to the first hundred.
func (j *judge) note(format string, args ...any) {
	if len(j.problems) < 100 {
		j.problems = append(j.problems, time.Now().UTC().Format(time.TimeOnly)+" "+fmt.Sprintf(format, args...))
	}
}

// tally returns the number of pods created and of resizes so far, and the problems.
func (j *judge) tally() (created, resizes int, problems []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.created, j.resizes, slices.Clone(j.problems)
}

// fared returns the sizings so far.
func (j *judge) fared() sizings {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.sizings
	s.First, s.Again = latenciesOf(j.first), latenciesOf(j.again)
	return s
}

// handler returns an event handler that passes all pods to the judge.
func (j *judge) handler() cache.ResourceEventHandler {
	locked := func(do func()) {
		j.mu.Lock()
		defer j.mu.Unlock()
		do()
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { locked(func() { j.added(obj.(*corev1.Pod)) }) },
		UpdateFunc: func(before, now any) { locked(func() { j.updated(before.(*corev1.Pod), now.(*corev1.Pod)) }) },
		DeleteFunc: func(obj any) {
			if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = gone.Obj
			}
			locked(func() { j.ended(obj.(*corev1.Pod)) })
		},
	}
}

// added handles a new pod.
func (j *judge) added(pod *corev1.Pod) {
	j.created++
	j.check(shapes[pod.Labels[shapeLabel]], pod)
	j.track(pod)
}

// updated handles a change to a pod.
func (j *judge) updated(old, pod *corev1.Pod) {
	if old.UID != pod.UID {
		j.ended(old)
		j.added(pod)
		return
	}
	j.check(old.Spec.Containers, pod)
	if old.Status.QOSClass != pod.Status.QOSClass {
		j.note("the QoS class of pod %s changed from %s to %s", pod.Name, old.Status.QOSClass, pod.Status.QOSClass)
	}
	for i := range pod.Status.ContainerStatuses {
		if pod.Status.ContainerStatuses[i].RestartCount > 0 {
			j.note("a container of pod %s was restarted", pod.Name)
		}
	}
	j.track(pod)
}

// check checks the size of a pod if it has changed.
func (j *judge) check(before []corev1.Container, pod *corev1.Pod) {
	now := sizesOf(pod.Spec.Containers)
	if now == sizesOf(before) {
		return
	}
	j.resizes++
	if !j.gives(pod, now, func(replaced time.Time) bool { return j.outages.outside(replaced, time.Now()) <= j.within }) {
		j.note("pod %s was resized to %swhich no ratio in effect gives; it had %s", pod.Name, now, sizesOf(before))
	}
}

// gives reports whether a ratio gives the pod this size: a ratio in effect, or one that
// was replaced but still counts.
func (j *judge) gives(pod *corev1.Pod, size string, counts func(replaced time.Time) bool) bool {
	return slices.ContainsFunc(j.history.ratiosOf(pod.Labels[typeLabel], counts), func(r ratio) bool {
		return size == sizesFor(shapes[pod.Labels[shapeLabel]], r)
	})
}
