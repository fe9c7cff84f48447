package node

import (
	"fmt"
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	kubelettypes "k8s.io/kubelet/pkg/types"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/work"
)

// reasonInvalidWork is the reason of events about annotations that have no effect.
const reasonInvalidWork = "InvalidWork"

// declarations returns the annotations of a pod that declare the work of its containers, and the
// keys of those that name none of them.
func declarations(pod *v1.Pod) (declared map[string]string, unknown []string) {
	containers := map[string]bool{}
	podutil.VisitContainers(&pod.Spec, podutil.AllContainers, func(container *v1.Container, _ podutil.ContainerType) bool {
		containers[container.Name] = true
		return true
	})
	declared = map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(pod.Annotations)) {
		container, declares := work.ContainerOf(key)
		switch {
		case declares && containers[container]:
			declared[key] = pod.Annotations[key]
		case declares:
			unknown = append(unknown, key)
		}
	}
	return declared, unknown
}

// declaredWork returns the work that is declared for a container, or nil. The caller holds mu.
func (m *machine) declaredWork(labels map[string]string, container string) (*work.Work, error) {
	pod := m.pods[uidOf(labels)]
	if pod == nil {
		return nil, nil
	}
	return work.Declared(kubelettypes.GetPodNamespace(labels), kubelettypes.GetPodName(labels), container, pod.declarations, m.rules)
}

// program returns the work that a container does, declared or not.
func (c *container) program() *work.Work {
	if c.work != nil {
		return c.work
	}
	return work.Idle(c.status.Resources.GetLinux().GetMemoryLimitInBytes())
}

// redeclare lets the containers of a pod do what its annotations declare now. It returns an error
// for each annotation without effect. A running container then keeps its work.
func (m *machine) redeclare(pod *v1.Pod) (ineffective []error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	declared, unknown := declarations(pod)
	for _, key := range unknown {
		ineffective = append(ineffective, fmt.Errorf("annotation %s: the pod has no such container", key))
	}
	cgroup := m.pods[pod.UID]
	if cgroup == nil || maps.Equal(cgroup.declarations, declared) {
		return ineffective
	}
	before := cgroup.declarations
	cgroup.declarations = declared
	now := m.clock.At(time.Now())
	for _, container := range m.containers {
		if uidOf(container.status.Labels) != pod.UID || container.run == nil {
			continue
		}
		name := container.status.GetMetadata().GetName()
		key := work.Annotation(name)
		old, had := before[key]
		if text, has := declared[key]; had == has && old == text {
			continue
		}
		changed, err := m.declaredWork(container.status.Labels, name)
		if err != nil {
			ineffective = append(ineffective, err)
			if delete(declared, key); had {
				declared[key] = old
			}
			continue
		}
		container.work = changed
		container.run.Change(container.program(), now)
	}
	return ineffective
}
