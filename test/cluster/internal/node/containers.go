package node

import (
	"context"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// exitStopped is the exit code of a well-behaved program that is told to stop.
const exitStopped = 0

// CreateContainer creates a container with its resources.
func (m runtime) CreateContainer(_ context.Context, sandboxID string, config *runtimeapi.ContainerConfig, _ *runtimeapi.PodSandboxConfig) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sandboxes[sandboxID] == nil {
		return "", notFound("sandbox", sandboxID)
	}
	declared, err := m.declaredWork(config.Labels, config.GetMetadata().GetName())
	if err != nil {
		return "", err
	}
	config = proto.Clone(config).(*runtimeapi.ContainerConfig)
	id := newID()
	m.containers[id] = &container{
		sandboxID: sandboxID,
		command:   slices.Concat(config.Command, config.Args),
		work:      declared,
		status: &runtimeapi.ContainerStatus{
			Id:          id,
			Metadata:    config.Metadata,
			State:       runtimeapi.ContainerState_CONTAINER_CREATED,
			CreatedAt:   time.Now().UnixNano(),
			Image:       config.Image,
			ImageRef:    config.GetImage().GetImage(),
			ImageId:     config.GetImage().GetImage(),
			Labels:      config.Labels,
			Annotations: config.Annotations,
			Mounts:      config.Mounts,
			LogPath:     config.LogPath,
			Resources:   &runtimeapi.ContainerResources{Linux: config.GetLinux().GetResources()},
		},
	}
	return id, nil
}

// StartContainer starts a container. If its program is known to end, the container ends
// immediately or later.
func (m runtime) StartContainer(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	container := m.containers[id]
	if container == nil {
		return notFound("container", id)
	}
	container.status.State = runtimeapi.ContainerState_CONTAINER_RUNNING
	container.status.StartedAt = time.Now().UnixNano()
	m.startWork(container)
	m.runProgram(container)
	return nil
}

// StopContainer stops a container immediately: nothing in it needs the timeout.
func (m runtime) StopContainer(_ context.Context, id string, _ int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if container := m.containers[id]; container != nil {
		container.finish(exitStopped)
	}
	return nil
}

// RemoveContainer removes a container. A missing container is not an error.
func (m runtime) RemoveContainer(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if container := m.containers[id]; container != nil {
		container.finish(exitStopped)
		delete(m.containers, id)
	}
	return nil
}

// ContainerStatus returns a container's status, its resources included.
func (m runtime) ContainerStatus(_ context.Context, id string, _ bool) (*runtimeapi.ContainerStatusResponse, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	container := m.containers[id]
	if container == nil {
		return nil, notFound("container", id)
	}
	return &runtimeapi.ContainerStatusResponse{Status: proto.Clone(container.status).(*runtimeapi.ContainerStatus)}, nil
}

// ListContainers lists the containers that the filter selects.
func (m runtime) ListContainers(_ context.Context, filter *runtimeapi.ContainerFilter) ([]*runtimeapi.Container, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []*runtimeapi.Container
	for id, container := range m.containers {
		if filter.GetId() != "" && filter.GetId() != id ||
			filter.GetPodSandboxId() != "" && filter.GetPodSandboxId() != container.sandboxID ||
			filter.GetState() != nil && filter.GetState().State != container.status.State ||
			!matches(filter.GetLabelSelector(), container.status.Labels) {
			continue
		}
		status := proto.Clone(container.status).(*runtimeapi.ContainerStatus)
		list = append(list, &runtimeapi.Container{
			Id:           status.Id,
			PodSandboxId: container.sandboxID,
			Metadata:     status.Metadata,
			Image:        status.Image,
			ImageRef:     status.ImageRef,
			ImageId:      status.ImageId,
			State:        status.State,
			CreatedAt:    status.CreatedAt,
			Labels:       status.Labels,
			Annotations:  status.Annotations,
		})
	}
	return list, nil
}

// UpdateContainerResources changes a container's resources in place.
func (m runtime) UpdateContainerResources(_ context.Context, id string, resources *runtimeapi.ContainerResources) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	container := m.containers[id]
	if container == nil {
		return notFound("container", id)
	}
	if !container.running() && container.status.State != runtimeapi.ContainerState_CONTAINER_CREATED {
		return fmt.Errorf("update resources of container %s: it has ended", id)
	}
	current := container.status.Resources.GetLinux()
	if current == nil {
		current = &runtimeapi.LinuxContainerResources{}
	}
	// As the protocol requires, fields that are zero, empty or unset keep their values.
	// Merging messages does just that, except for lists, which would grow.
	if len(resources.GetLinux().GetHugepageLimits()) > 0 {
		current.HugepageLimits = nil
	}
	proto.Merge(current, resources.GetLinux())
	container.status.Resources = &runtimeapi.ContainerResources{Linux: current}
	return nil
}

// finish ends a container that has not ended yet. The caller holds mu.
func (c *container) finish(exitCode int32) {
	if c.exit != nil {
		c.exit.Stop()
		c.exit = nil
	}
	if c.status.State == runtimeapi.ContainerState_CONTAINER_EXITED {
		return
	}
	c.run, c.ready = nil, false
	c.status.State = runtimeapi.ContainerState_CONTAINER_EXITED
	c.status.FinishedAt = time.Now().UnixNano()
	c.status.ExitCode = exitCode
	c.status.Reason = "Completed"
	if exitCode != 0 {
		c.status.Reason = "Error"
	}
}
