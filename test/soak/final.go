package main

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// final returns what is wrong with a pod after everything has come to rest, or nil.
func (j *judge) final(pod *corev1.Pod) error {
	shape, nodeType := shapes[pod.Labels[shapeLabel]], pod.Labels[typeLabel]
	if now, want := sizesOf(pod.Spec.Containers), sizesFor(shape, j.history.now(nodeType)); now != want {
		return fmt.Errorf("pod %s has %swant %s", pod.Name, now, want)
	}
	if got := pod.Annotations["workload-resizer.io/applied-instance-type"]; got != nodeType {
		return fmt.Errorf("pod %s is annotated with node type %q, not %s", pod.Name, got, nodeType)
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
	// The kubelets have actuated the sizes.
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
			return fmt.Errorf("container %s of pod %s is not running", running[i].Name, pod.Name)
		}
	}
	if has, want := sizesOf(running), sizesOf(pod.Spec.Containers); has != want {
		return fmt.Errorf("pod %s runs with %swant %s", pod.Name, has, want)
	}
	return nil
}
