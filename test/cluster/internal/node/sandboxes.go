package node

import (
	"context"
	"errors"
	"time"

	"google.golang.org/protobuf/proto"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// maxPodIPs is the number of pod addresses of a node.
const maxPodIPs = 254

// RunPodSandbox creates a sandbox, which is ready immediately.
func (m runtime) RunPodSandbox(_ context.Context, config *runtimeapi.PodSandboxConfig, handler string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ip, err := m.freePodIP()
	if err != nil {
		return "", err
	}
	config = proto.Clone(config).(*runtimeapi.PodSandboxConfig)
	id := newID()
	m.sandboxes[id] = &sandbox{ip: ip, status: &runtimeapi.PodSandboxStatus{
		Id:             id,
		Metadata:       config.Metadata,
		State:          runtimeapi.PodSandboxState_SANDBOX_READY,
		CreatedAt:      time.Now().UnixNano(),
		Network:        &runtimeapi.PodSandboxNetworkStatus{Ip: m.node.PodIP(ip)},
		Labels:         config.Labels,
		Annotations:    config.Annotations,
		RuntimeHandler: handler,
		// The kubelet would re-create a sandbox whose namespaces differ from the
		// requested ones.
		Linux: &runtimeapi.LinuxPodSandboxStatus{Namespaces: &runtimeapi.Namespace{
			Options: config.GetLinux().GetSecurityContext().GetNamespaceOptions(),
		}},
	}}
	return id, nil
}

func (m runtime) freePodIP() (int, error) {
	var taken [maxPodIPs]bool
	for _, sandbox := range m.sandboxes {
		if sandbox.ready() {
			taken[sandbox.ip] = true
		}
	}
	for ip, isTaken := range taken {
		if !isTaken {
			return ip, nil
		}
	}
	return 0, errors.New("no free pod address")
}

func (s *sandbox) ready() bool {
	return s.status.State == runtimeapi.PodSandboxState_SANDBOX_READY
}

// StopPodSandbox stops a sandbox and its containers. A missing sandbox is not an error.
func (m runtime) StopPodSandbox(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, container := range m.containers {
		if container.sandboxID == id {
			container.finish(exitStopped)
		}
	}
	if sandbox := m.sandboxes[id]; sandbox != nil {
		sandbox.status.State = runtimeapi.PodSandboxState_SANDBOX_NOTREADY
	}
	return nil
}

// RemovePodSandbox removes a sandbox and its containers. A missing sandbox is not an
// error.
func (m runtime) RemovePodSandbox(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for containerID, container := range m.containers {
		if container.sandboxID == id {
			container.finish(exitStopped)
			delete(m.containers, containerID)
		}
	}
	delete(m.sandboxes, id)
	return nil
}

// PodSandboxStatus returns a sandbox's status.
func (m runtime) PodSandboxStatus(_ context.Context, id string, _ bool) (*runtimeapi.PodSandboxStatusResponse, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sandbox := m.sandboxes[id]
	if sandbox == nil {
		return nil, notFound("sandbox", id)
	}
	return &runtimeapi.PodSandboxStatusResponse{Status: proto.Clone(sandbox.status).(*runtimeapi.PodSandboxStatus)}, nil
}

// ListPodSandbox lists the sandboxes that the filter selects.
func (m runtime) ListPodSandbox(_ context.Context, filter *runtimeapi.PodSandboxFilter) ([]*runtimeapi.PodSandbox, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []*runtimeapi.PodSandbox
	for id, sandbox := range m.sandboxes {
		if filter.GetId() != "" && filter.GetId() != id ||
			filter.GetState() != nil && filter.GetState().State != sandbox.status.State ||
			!matches(filter.GetLabelSelector(), sandbox.status.Labels) {
			continue
		}
		status := proto.Clone(sandbox.status).(*runtimeapi.PodSandboxStatus)
		list = append(list, &runtimeapi.PodSandbox{
			Id:             status.Id,
			Metadata:       status.Metadata,
			State:          status.State,
			CreatedAt:      status.CreatedAt,
			Labels:         status.Labels,
			Annotations:    status.Annotations,
			RuntimeHandler: status.RuntimeHandler,
		})
	}
	return list, nil
}

// UpdatePodSandboxResources does nothing. It announces a change to the pod's cgroup,
// which the kubelet makes itself.
func (m runtime) UpdatePodSandboxResources(context.Context, *runtimeapi.UpdatePodSandboxResourcesRequest) (*runtimeapi.UpdatePodSandboxResourcesResponse, error) {
	return &runtimeapi.UpdatePodSandboxResourcesResponse{}, nil
}
