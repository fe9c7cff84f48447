package node

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/record"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/prober"
)

// probes marks running containers as ready when their work says so. Nothing is probed:
// simulated containers do not respond.
type probes struct {
	*machine
	recorder record.EventRecorder
}

var _ prober.Manager = probes{}

// UpdatePodStatus marks running containers as started and ready, and init containers that
// succeeded as ready, like the real prober for containers without probes.
func (p probes) UpdatePodStatus(_ context.Context, _ *v1.Pod, status *v1.PodStatus) {
	for i := range status.ContainerStatuses {
		p.markReady(&status.ContainerStatuses[i])
	}
	for i := range status.InitContainerStatuses {
		container := &status.InitContainerStatuses[i]
		p.markReady(container)
		if container.State.Terminated != nil && container.State.Terminated.ExitCode == 0 {
			container.Ready = true
		}
	}
}

func (p probes) markReady(status *v1.ContainerStatus) {
	p.mu.Lock()
	defer p.mu.Unlock()
	running := status.State.Running != nil
	status.Started = &running
	container := p.containers[kubecontainer.ParseContainerID(status.ContainerID).ID]
	status.Ready = running && container != nil && container.ready
}

// AddPod lets the containers of a pod do what its annotations declare. The kubelet calls it
// whenever the pod has changed.
func (p probes) AddPod(_ context.Context, pod *v1.Pod) {
	for _, err := range p.redeclare(pod) {
		p.recorder.Event(pod, v1.EventTypeWarning, reasonInvalidWork, err.Error())
	}
}

// RemovePod does nothing, like the methods below: there are no workers to manage.
func (probes) RemovePod(*v1.Pod) {}

// StopLivenessAndStartup does nothing.
func (probes) StopLivenessAndStartup(*v1.Pod) {}

// CleanupPods does nothing.
func (probes) CleanupPods(map[types.UID]sets.Empty) {}
