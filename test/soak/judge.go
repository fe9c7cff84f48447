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

// judge follows the pods, and notes all that is wrong with what is done to them.
type judge struct {
	history *history
	outages *outages
	// within is how long a pod may run without having been sized, and how long a ratio
	// that was replaced may still decide: a resize may be on its way.
	within time.Duration
	// population is how many pods there are at once.
	population int

	mu       sync.Mutex
	problems []string
	created  int
	resizes  int
	pods     map[types.UID]*tracked
	sizings  sizings
	// first and again are what the latencies of sizings are made of.
	first, again []time.Duration
}

func newJudge(h *history, o *outages, within time.Duration, population int) *judge {
	return &judge{history: h, outages: o, within: within, population: population, pods: map[types.UID]*tracked{}}
}

// note keeps what is wrong, the first hundred.
func (j *judge) note(format string, args ...any) {
	if len(j.problems) < 100 {
		j.problems = append(j.problems, time.Now().UTC().Format(time.TimeOnly)+" "+fmt.Sprintf(format, args...))
	}
}

// tally returns how many pods were created and resized so far, and what is wrong.
func (j *judge) tally() (created, resizes int, problems []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.created, j.resizes, slices.Clone(j.problems)
}

// fared returns how the pods fared so far.
func (j *judge) fared() sizings {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.sizings
	s.First, s.Again = latenciesOf(j.first), latenciesOf(j.again)
	return s
}

// handler has it told of all pods.
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

// added is told of each new pod.
func (j *judge) added(pod *corev1.Pod) {
	j.created++
	j.check(shapes[pod.Labels[shapeLabel]], pod)
	j.track(pod)
}

// updated is told of each change of a pod.
func (j *judge) updated(old, pod *corev1.Pod) {
	if old.UID != pod.UID {
		j.ended(old)
		j.added(pod)
		return
	}
	j.check(old.Spec.Containers, pod)
	if old.Status.QOSClass != pod.Status.QOSClass {
		j.note("pod %s was %s and is %s", pod.Name, old.Status.QOSClass, pod.Status.QOSClass)
	}
	for i := range pod.Status.ContainerStatuses {
		if pod.Status.ContainerStatuses[i].RestartCount > 0 {
			j.note("a container of pod %s was restarted", pod.Name)
		}
	}
	j.track(pod)
}

// check looks at the size of a pod where it is another than before.
func (j *judge) check(before []corev1.Container, pod *corev1.Pod) {
	now := sizesOf(pod.Spec.Containers)
	if now == sizesOf(before) {
		return
	}
	j.resizes++
	if !j.gives(pod, now, func(replaced time.Time) bool { return j.outages.outside(replaced, time.Now()) <= j.within }) {
		j.note("pod %s was given the size %sby no ratio that was in force; it had %s", pod.Name, now, sizesOf(before))
	}
}

// gives tells whether a ratio in force gives a pod this size, or one that has been
// replaced but still counts.
func (j *judge) gives(pod *corev1.Pod, size string, counts func(replaced time.Time) bool) bool {
	return slices.ContainsFunc(j.history.ratiosOf(pod.Labels[typeLabel], counts), func(r ratio) bool {
		return size == sizesFor(shapes[pod.Labels[shapeLabel]], r)
	})
}
