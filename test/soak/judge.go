package main

import (
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// grace is how long after a ratio was replaced a pod may still be given a size by it:
// a resize may be on its way, and the API server may be away meanwhile.
const grace = 45 * time.Second

// judge follows the pods, and notes all that is wrong with what is done to them.
type judge struct {
	history *history

	mu       sync.Mutex
	problems []string
	created  int
	resizes  int
}

// note keeps what is wrong, the first hundred.
func (j *judge) note(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
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

// added is told of each new pod.
func (j *judge) added(obj any) {
	pod := obj.(*corev1.Pod)
	j.mu.Lock()
	j.created++
	j.mu.Unlock()
	j.check(shapes[pod.Labels[shapeLabel]], pod)
}

// updated is told of each change of a pod.
func (j *judge) updated(before, now any) {
	old, pod := before.(*corev1.Pod), now.(*corev1.Pod)
	if old.UID != pod.UID {
		j.added(now)
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
}

// check looks at the size of a pod where it is another than before.
func (j *judge) check(before []corev1.Container, pod *corev1.Pod) {
	now := sizesOf(pod.Spec.Containers)
	if now == sizesOf(before) {
		return
	}
	j.mu.Lock()
	j.resizes++
	j.mu.Unlock()
	right := func(r ratio) bool { return now == sizesFor(shapes[pod.Labels[shapeLabel]], r) }
	if !slices.ContainsFunc(j.history.since(pod.Labels[typeLabel], time.Now().Add(-grace)), right) {
		j.note("pod %s was given the size %sby no ratio that was in force; it had %s", pod.Name, now, sizesOf(before))
	}
}

// final returns what a pod lacks when everything has come to rest, nil for nothing.
func (j *judge) final(pod *corev1.Pod) error {
	shape, nodeType := shapes[pod.Labels[shapeLabel]], pod.Labels[typeLabel]
	if now, want := sizesOf(pod.Spec.Containers), sizesFor(shape, j.history.now(nodeType)); now != want {
		return fmt.Errorf("pod %s has %swant %s", pod.Name, now, want)
	}
	if got := pod.Annotations["workload-resizer.io/applied-instance-type"]; got != nodeType {
		return fmt.Errorf("pod %s is recorded for %q, not %s", pod.Name, got, nodeType)
	}
	for _, c := range shape {
		cpu, memory := c.Resources.Requests.Cpu().String(), c.Resources.Requests.Memory().String()
		if got := pod.Annotations["workload-resizer.io/original-cpu."+c.Name]; got != cpu {
			return fmt.Errorf("pod %s has the original cpu %q, not %s", pod.Name, got, cpu)
		}
		if got := pod.Annotations["workload-resizer.io/original-memory."+c.Name]; got != memory {
			return fmt.Errorf("pod %s has the original memory %q, not %s", pod.Name, got, memory)
		}
	}
	if got := pod.Status.QOSClass; got != qosOf[pod.Labels[shapeLabel]] {
		return fmt.Errorf("pod %s is %s, not %s", pod.Name, got, qosOf[pod.Labels[shapeLabel]])
	}
	// The nodes have carried it out.
	running := slices.Clone(pod.Spec.Containers)
	for i := range running {
		found := false
		for _, status := range pod.Status.ContainerStatuses {
			if status.RestartCount > 0 {
				return fmt.Errorf("container %s of pod %s was restarted", status.Name, pod.Name)
			}
			if status.Name == running[i].Name && status.Resources != nil && status.State.Running != nil {
				running[i].Resources, found = *status.Resources, true
			}
		}
		if !found {
			return fmt.Errorf("container %s of pod %s does not run", running[i].Name, pod.Name)
		}
	}
	if has, want := sizesOf(running), sizesOf(pod.Spec.Containers); has != want {
		return fmt.Errorf("pod %s runs with %swant %s", pod.Name, has, want)
	}
	return nil
}
