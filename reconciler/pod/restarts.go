package pod

import corev1 "k8s.io/api/core/v1"

// RestartCount returns how often the container has restarted.
func (c *Container) RestartCount() int32 { return c.restarts }

// Failed reports whether the container failed when it ended last: its exit code was not 0.
func (c *Container) Failed() bool { return c.facts&failed != 0 }

// Probed reports whether a probe can make the kubelet restart the container. It may end with the exit code 0
// then, as if it had not failed.
func (c *Container) Probed() bool { return c.facts&probed != 0 }

// Ready reports whether the container is ready.
func (c *Container) Ready() bool { return c.facts&containerReady != 0 }

// readRestarts reads how the container ran so far.
func (c *Container) readRestarts(s *corev1.ContainerStatus) {
	if s == nil {
		return
	}
	c.restarts = s.RestartCount
	if s.Ready {
		c.facts |= containerReady
	}
	ended := s.State.Terminated
	if ended == nil {
		ended = s.LastTerminationState.Terminated
	}
	if ended != nil && ended.ExitCode != 0 {
		c.facts |= failed
	}
}

// readiness returns the Ready condition of a pod; nil if it has none.
func readiness(pod *corev1.Pod) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c
		}
	}
	return nil
}
