package safety

import "fmt"

// Pods that the API server never resizes, by the rules of its ValidatePodResize
// (pkg/apis/core/validation).

func static(s Snapshot) string {
	if !s.Pod.Static() {
		return ""
	}
	return "the pod is the mirror of a static pod, which only its kubelet can change"
}

func windows(s Snapshot) string {
	if !s.Pod.Windows() {
		return ""
	}
	return "the pod's operating system (spec.os, or the node selector kubernetes.io/os) is windows"
}

// noRequests vetoes every BestEffort pod.
func noRequests(s Snapshot) string {
	for i := range s.Pod.Containers {
		if c := &s.Pod.Containers[i]; !c.Init() && (c.Spec.CPU.Request > 0 || c.Spec.Memory.Request > 0) {
			return ""
		}
	}
	return "no container requests cpu or memory"
}

// resizeUnsupported vetoes pods on nodes that cannot resize: a kubelet that can resize reports
// what a container runs with. While no container runs, nothing is known.
func resizeUnsupported(s Snapshot) string {
	container := s.Pod.NotReported()
	if container == "" {
		return ""
	}
	return fmt.Sprintf("node %s does not report the resources of container %s, so it cannot resize in place", s.Pod.Node(), container)
}

func podLevelResources(s Snapshot) string {
	if whole := s.Pod.Whole(); whole == nil || !whole.Asks {
		return ""
	}
	return "the pod has pod-level resources (spec.resources)"
}

// resourceClaims also covers init containers: the API server rejects a resize if any container
// of the pod has claims.
func resourceClaims(s Snapshot) string { return s.Pod.Claim() }
