package node

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// unsupported implements the calls that concern the inside of containers, which simulated
// containers do not have. Commands succeed without output, for the sake of lifecycle
// hooks. Statistics of pods are empty; the kubelet then uses cAdvisor.
type unsupported struct{}

func unimplemented(what string) error {
	return status.Errorf(codes.Unimplemented, "%s: the container is simulated", what)
}

// ExecSync pretends that the command succeeded.
func (unsupported) ExecSync(context.Context, string, []string, time.Duration) ([]byte, []byte, error) {
	return nil, nil, nil
}

// Exec is not supported.
func (unsupported) Exec(context.Context, *runtimeapi.ExecRequest) (*runtimeapi.ExecResponse, error) {
	return nil, unimplemented("exec")
}

// Attach is not supported.
func (unsupported) Attach(context.Context, *runtimeapi.AttachRequest) (*runtimeapi.AttachResponse, error) {
	return nil, unimplemented("attach")
}

// CheckpointContainer is not supported.
func (unsupported) CheckpointContainer(context.Context, *runtimeapi.CheckpointContainerRequest) error {
	return unimplemented("checkpoint")
}

// GetContainerEvents is not supported; the kubelet polls.
func (unsupported) GetContainerEvents(context.Context, chan *runtimeapi.ContainerEventResponse, func(runtimeapi.RuntimeService_GetContainerEventsClient)) error {
	return unimplemented("container events")
}

// ReopenContainerLog has no log to reopen.
func (unsupported) ReopenContainerLog(context.Context, string) error { return nil }

// PodSandboxStats is not supported.
func (unsupported) PodSandboxStats(context.Context, string) (*runtimeapi.PodSandboxStats, error) {
	return nil, unimplemented("pod stats")
}

// ListPodSandboxStats returns none.
func (unsupported) ListPodSandboxStats(context.Context, *runtimeapi.PodSandboxStatsFilter) ([]*runtimeapi.PodSandboxStats, error) {
	return nil, nil
}

// ListMetricDescriptors returns none.
func (unsupported) ListMetricDescriptors(context.Context) ([]*runtimeapi.MetricDescriptor, error) {
	return nil, nil
}

// ListPodSandboxMetrics returns none.
func (unsupported) ListPodSandboxMetrics(context.Context) ([]*runtimeapi.PodSandboxMetrics, error) {
	return nil, nil
}
