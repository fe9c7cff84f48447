package node

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/apis/core/v1/helper/qos"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/cm"
)

// podCgroupParent is the cgroup that holds all pods. As on a real node, the names of the pods'
// cgroups depend on the QoS class. The classes themselves have no cgroups here.
const (
	podCgroupParent = "kubepods"
	podCgroupRoot   = "/" + podCgroupParent
)

// cpuPeriodMicroseconds is the kernel's default scheduling period.
const cpuPeriodMicroseconds = 100_000

// podCgroups presents the machine as the pods' cgroups.
type podCgroups struct{ *machine }

var _ cm.PodContainerManager = podCgroups{}

// GetPodContainerName returns the name of a pod's cgroup, and the same as a path.
func (m podCgroups) GetPodContainerName(pod *v1.Pod) (cm.CgroupName, string) {
	parents := []string{podCgroupParent}
	if class := qos.GetPodQOS(pod); class != v1.PodQOSGuaranteed {
		parents = append(parents, strings.ToLower(string(class)))
	}
	name := cm.NewCgroupName(cm.RootCgroupName, append(parents, cm.GetPodCgroupNameSuffix(pod.UID))...)
	return name, name.ToCgroupfs()
}

// Exists reports whether a pod has a cgroup.
func (m podCgroups) Exists(pod *v1.Pod) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.pods[pod.UID] != nil
}

// EnsureExists creates a pod's cgroup with the resources that are allocated to the pod.
func (m podCgroups) EnsureExists(_ klog.Logger, pod *v1.Pod) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pods[pod.UID] != nil {
		return nil
	}
	// What the kernel reports for a cgroup without limits.
	shares, period, quota, memory := uint64(cm.MinShares), uint64(cpuPeriodMicroseconds), int64(-1), int64(-1)
	declarations, _ := declarations(pod)
	cgroup := &podCgroup{
		config:  cm.ResourceConfig{CPUShares: &shares, CPUPeriod: &period, CPUQuota: &quota, Memory: &memory},
		oneShot: oneShotContainers(pod),

		declarations: declarations,
	}
	cgroup.name, _ = m.GetPodContainerName(pod)
	cgroup.apply(cm.ResourceConfigForPod(pod, true, period, false, kubeletconfig.NoneMemoryReservationPolicy))
	m.pods[pod.UID] = cgroup
	return nil
}

// GetPodCgroupConfig returns the configuration of a pod's cgroup.
func (m podCgroups) GetPodCgroupConfig(pod *v1.Pod, resource v1.ResourceName) (*cm.ResourceConfig, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	cgroup := m.pods[pod.UID]
	if cgroup == nil {
		return nil, fmt.Errorf("pod %s has no cgroup", pod.UID)
	}
	switch resource {
	case v1.ResourceCPU:
		return &cm.ResourceConfig{
			CPUShares: new(*cgroup.config.CPUShares),
			CPUQuota:  new(*cgroup.config.CPUQuota),
			CPUPeriod: new(*cgroup.config.CPUPeriod),
		}, nil
	case v1.ResourceMemory:
		return &cm.ResourceConfig{Memory: new(*cgroup.config.Memory)}, nil
	default:
		return nil, fmt.Errorf("cgroups have no resource %s", resource)
	}
}

// SetPodCgroupConfig changes the configuration of a pod's cgroup.
func (m podCgroups) SetPodCgroupConfig(_ klog.Logger, pod *v1.Pod, config *cm.ResourceConfig) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	cgroup := m.pods[pod.UID]
	if cgroup == nil {
		return fmt.Errorf("pod %s has no cgroup", pod.UID)
	}
	cgroup.apply(config)
	return nil
}

// apply copies the fields that are set and keeps the others.
func (c *podCgroup) apply(config *cm.ResourceConfig) {
	if config.CPUShares != nil {
		c.config.CPUShares = new(*config.CPUShares)
	}
	if config.CPUQuota != nil {
		c.config.CPUQuota = new(*config.CPUQuota)
	}
	if config.CPUPeriod != nil {
		c.config.CPUPeriod = new(*config.CPUPeriod)
	}
	if config.Memory != nil {
		c.config.Memory = new(*config.Memory)
	}
}

// GetPodCgroupMemoryUsage returns the memory that a pod uses, in bytes.
func (m podCgroups) GetPodCgroupMemoryUsage(pod *v1.Pod) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.memoryUsage(pod.UID), nil
}

// Destroy removes a cgroup.
func (m podCgroups) Destroy(_ klog.Logger, name cm.CgroupName) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for uid, cgroup := range m.pods {
		if slices.Equal(cgroup.name, name) {
			delete(m.pods, uid)
		}
	}
	return nil
}

// ReduceCPULimits does nothing. The kubelet calls it while a dead pod's volumes are still
// in use, when nothing runs in the cgroup that could be slowed down.
func (m podCgroups) ReduceCPULimits(klog.Logger, cm.CgroupName) error { return nil }

// GetAllPodsFromCgroups lists the pods that have a cgroup.
func (m podCgroups) GetAllPodsFromCgroups() (map[types.UID]cm.CgroupName, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := make(map[types.UID]cm.CgroupName, len(m.pods))
	for uid, cgroup := range m.pods {
		names[uid] = cgroup.name
	}
	return names, nil
}

// IsPodCgroup reports whether a path is a pod's cgroup, and returns the pod's UID.
func (m podCgroups) IsPodCgroup(path string) (bool, types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for uid, cgroup := range m.pods {
		if cgroup.name.ToCgroupfs() == path {
			return true, uid
		}
	}
	return false, ""
}
