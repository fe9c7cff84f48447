package node

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/kubernetes/pkg/kubelet/cm"
)

// containerManager is upstream's stub, which manages nothing, plus pod cgroups, a disk,
// and the policies by which kubelets decide on resizes.
type containerManager struct {
	cm.ContainerManager
	machine *machine
}

func newContainerManager(m *machine) cm.ContainerManager {
	return containerManager{ContainerManager: cm.NewStubContainerManager(), machine: m}
}

// NewPodContainerManager returns the pods' cgroups.
func (c containerManager) NewPodContainerManager() cm.PodContainerManager {
	return podCgroups{c.machine}
}

// GetNodeConfig returns the policies. No container gets exclusive CPUs: simulated
// containers have nothing to pin.
func (c containerManager) GetNodeConfig() cm.NodeConfig {
	return cm.NodeConfig{CPUManagerPolicy: c.machine.node.CPUManager}
}

// GetPodCgroupRoot returns the cgroup that holds all pods.
func (c containerManager) GetPodCgroupRoot() string { return podCgroupRoot }

// GetCapacity returns the size of the disk. Without it, pods that request ephemeral
// storage could not be scheduled.
func (c containerManager) GetCapacity(bool) v1.ResourceList {
	return v1.ResourceList{v1.ResourceEphemeralStorage: *resource.NewQuantity(diskSize, resource.BinarySI)}
}
