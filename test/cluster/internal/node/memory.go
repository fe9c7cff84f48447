package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/kubernetes/pkg/kubelet/cm"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/kernel"
	"github.com/workload-resizer/workload-resizer/test/cluster/internal/work"
)

// The machine's state outlives the kubelet's process if the process ends properly. The
// next start is then like a restart of the kubelet alone: all containers are still
// running. If the process is killed, it is as if the machine had been switched off: no
// container runs after the next start.

type savedMachine struct {
	Sandboxes  []savedSandbox                 `json:"sandboxes"`
	Containers []savedContainer               `json:"containers"`
	Images     []string                       `json:"images"`
	Pods       map[types.UID]savedPodResource `json:"pods"`
	// Node and PodsOfNode are the accounts of the machine and of all pods.
	Node       kernel.Account `json:"node"`
	PodsOfNode kernel.Account `json:"podsOfNode"`
}

type savedSandbox struct {
	Status []byte `json:"status"`
	IP     int    `json:"ip"`
}

type savedContainer struct {
	Status    []byte         `json:"status"`
	SandboxID string         `json:"sandboxID"`
	Command   []string       `json:"command"`
	Account   kernel.Account `json:"account"`
	// Progress is how far the container's work is, if the container is running.
	Progress *work.Progress `json:"progress,omitempty"`
}

type savedPodResource struct {
	Name      cm.CgroupName   `json:"name"`
	CPUShares uint64          `json:"cpuShares"`
	CPUPeriod uint64          `json:"cpuPeriod"`
	CPUQuota  int64           `json:"cpuQuota"`
	Memory    int64           `json:"memory"`
	OneShot   map[string]bool `json:"oneShot"`
	// Declarations are the annotations that declare work.
	Declarations map[string]string `json:"declarations"`
	Account      kernel.Account    `json:"account"`
}

// save writes the machine's state to a file.
func (m *machine) save(file string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	saved := savedMachine{
		Pods: map[types.UID]savedPodResource{},
		Node: m.kernel.Account, PodsOfNode: m.kernel.Pods,
	}
	for _, sandbox := range m.sandboxes {
		status, err := proto.Marshal(sandbox.status)
		if err != nil {
			return fmt.Errorf("encode sandbox %s: %w", sandbox.status.Id, err)
		}
		saved.Sandboxes = append(saved.Sandboxes, savedSandbox{Status: status, IP: sandbox.ip})
	}
	for _, container := range m.containers {
		status, err := proto.Marshal(container.status)
		if err != nil {
			return fmt.Errorf("encode container %s: %w", container.status.Id, err)
		}
		entry := savedContainer{
			Status: status, SandboxID: container.sandboxID, Command: container.command,
			Account: container.group.Account,
		}
		if container.run != nil {
			entry.Progress = &container.run.Progress
		}
		saved.Containers = append(saved.Containers, entry)
	}
	for image := range m.images {
		saved.Images = append(saved.Images, image)
	}
	for uid, cgroup := range m.pods {
		saved.Pods[uid] = savedPodResource{
			Name:      cgroup.name,
			CPUShares: *cgroup.config.CPUShares,
			CPUPeriod: *cgroup.config.CPUPeriod,
			CPUQuota:  *cgroup.config.CPUQuota,
			Memory:    *cgroup.config.Memory,
			OneShot:   cgroup.oneShot,
			Account:   cgroup.group.Account,

			Declarations: cgroup.declarations,
		}
	}
	content, err := json.Marshal(saved)
	if err != nil {
		return fmt.Errorf("encode simulated machine: %w", err)
	}
	return os.WriteFile(file, content, 0o600)
}

// restore reads the machine's state from a file, if the file exists, and removes the
// file: it is correct only until the machine changes again.
func (m *machine) restore(file string) error {
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := m.decode(content); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	m.resumePrograms()
	return os.Remove(file)
}

func (m *machine) decode(content []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var saved savedMachine
	if err := json.Unmarshal(content, &saved); err != nil {
		return err
	}
	m.kernel.Account, m.kernel.Pods = saved.Node, saved.PodsOfNode
	for _, entry := range saved.Sandboxes {
		status := &runtimeapi.PodSandboxStatus{}
		if err := proto.Unmarshal(entry.Status, status); err != nil {
			return fmt.Errorf("decode sandbox: %w", err)
		}
		m.sandboxes[status.Id] = &sandbox{status: status, ip: entry.IP}
	}
	// The work of containers is declared by their pods.
	for uid, entry := range saved.Pods {
		m.pods[uid] = &podCgroup{
			name:         entry.Name,
			oneShot:      entry.OneShot,
			declarations: entry.Declarations,
			group:        kernel.Pod{Account: entry.Account},
			config: cm.ResourceConfig{
				CPUShares: &entry.CPUShares, CPUPeriod: &entry.CPUPeriod,
				CPUQuota: &entry.CPUQuota, Memory: &entry.Memory,
			},
		}
	}
	for _, entry := range saved.Containers {
		status := &runtimeapi.ContainerStatus{}
		if err := proto.Unmarshal(entry.Status, status); err != nil {
			return fmt.Errorf("decode container: %w", err)
		}
		declared, err := m.declaredWork(status.Labels, status.GetMetadata().GetName())
		if err != nil {
			return fmt.Errorf("read the work of container %s: %w", status.Id, err)
		}
		container := &container{status: status, sandboxID: entry.SandboxID, command: entry.Command, work: declared}
		container.group.Account = entry.Account
		m.containers[status.Id] = container
		if entry.Progress != nil {
			m.startWork(container)
			container.run.Progress = *entry.Progress
			container.ready = container.run.Ready(m.clock.At(m.ticked))
		}
	}
	for _, name := range saved.Images {
		m.images[name] = newImage(&runtimeapi.ImageSpec{Image: name})
	}
	return nil
}
