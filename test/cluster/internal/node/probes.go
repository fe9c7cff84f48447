package node

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kubernetes/pkg/kubelet/prober"
)

// probes marks every running container as ready: a simulated container has nothing to
// probe.
type probes struct{}

var _ prober.Manager = probes{}

// UpdatePodStatus marks running containers as started and ready, and init containers that
// succeeded as ready, like the real prober for containers without probes.
func (probes) UpdatePodStatus(_ context.Context, _ *v1.Pod, status *v1.PodStatus) {
	for i := range status.ContainerStatuses {
		markReady(&status.ContainerStatuses[i])
	}
	for i := range status.InitContainerStatuses {
		container := &status.InitContainerStatuses[i]
		markReady(container)
		if container.State.Terminated != nil && container.State.Terminated.ExitCode == 0 {
			container.Ready = true
		}
	}
}

func markReady(container *v1.ContainerStatus) {
	running := container.State.Running != nil
	container.Started = &running
	container.Ready = running
}

// AddPod does nothing, like the methods below: there are no workers to manage.
func (probes) AddPod(context.Context, *v1.Pod) {}

// RemovePod does nothing.
func (probes) RemovePod(*v1.Pod) {}

// StopLivenessAndStartup does nothing.
func (probes) StopLivenessAndStartup(*v1.Pod) {}

// CleanupPods does nothing.
func (probes) CleanupPods(map[types.UID]sets.Empty) {}
