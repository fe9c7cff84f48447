package backtest

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

const (
	// container is the name of the container of a machine.
	container = "main"
	// baseline is the node type whose speed is 1, and speedLabel the label of nodes with their type.
	baseline, speedLabel = "baseline", "speed"
	// mostSpeedRatio allows all speeds: none is implausible in a replay.
	mostSpeedRatio = 1e9
)

// nodes plan replicas: each runs on the node of its type, which has room for any size.
type nodes struct {
	planner plan.Planner
	table   *ratios.Table
	byType  map[string]*corev1.Node
	input   plan.Snapshot
}

func newNodes(speeds map[string]recommend.Speed) *nodes {
	n := &nodes{planner: plan.Planner{OwnerKinds: plan.DefaultOwnerKinds, NodeTypes: nodetype.New(speedLabel)}, byType: map[string]*corev1.Node{}}
	// A replay compares policies as they are. Nothing is reverted.
	settings := keys.Some(policy.Settings{}, "guard.enabled")
	layer := &ratios.Layer{Baseline: baseline, Ratios: map[string]ratios.Ratio{baseline: {CPUPerf: 1, MemoryPerf: 1}}, MaxSpeedRatio: mostSpeedRatio, Settings: settings}
	for name, speed := range speeds {
		layer.Ratios[name] = ratios.Ratio{CPUPerf: speed.CPU, MemoryPerf: speed.Memory}
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{speedLabel: name}}}
		node.Status.NodeInfo.KubeletVersion = plan.MemoryLimitsShrink.String()
		n.byType[name] = node
	}
	table, err := ratios.Merge([]*ratios.Layer{layer})
	if err != nil {
		panic("backtest: speeds are not ratios: " + err.Error()) // Unreachable: speeds are finite and above 0.
	}
	n.table = table
	return n
}

// plan returns the size that a replica gets, and false if it keeps its size.
func (n *nodes) plan(of *sized, nodeType string, now time.Time) (request, limit recommend.Amounts, resize bool) {
	n.input = plan.Snapshot{Pod: of.pod, Table: n.table, Now: now, Demand: of}
	n.input.Around.Node = n.byType[nodeType]
	planned := n.planner.Plan(&n.input)
	if planned.Decision != plan.Resize {
		return request, limit, false
	}
	to := &planned.Containers[0].Desired
	return recommend.Amounts{CPU: to.CPU.Request, Memory: to.Memory.Request}, recommend.Amounts{CPU: to.CPU.Limit, Memory: to.Memory.Limit}, true
}

// sized is a replica as the planner sees it: a pod, and what its usage shows.
type sized struct {
	pod   *pod.Pod
	is    Pod
	shown need.Container
}

// update makes the replica that of a state.
func (s *sized) update(p Pod, nodeType string, shown need.Container) {
	before := s.is
	s.is, s.shown = p, shown
	switch {
	case s.pod == nil:
		s.pod = newPod(&p, nodeType)
	case before.Request == p.Request && before.Limit == p.Limit && before.Killed.Equal(p.Killed):
		return
	}
	var kills []pod.Kill
	if !p.Killed.IsZero() {
		kills = []pod.Kill{{Container: container, At: p.Killed, Ran: p.Ran}}
	}
	s.pod = s.pod.Replayed(0, sizeOf(p.Request, p.Limit), kills)
}

// Of implements need.Demand, as do the other methods. Traces have no page cache.
func (s *sized) Of(name string) (needs *need.Container, now need.Memory) {
	if name != container {
		return nil, need.Memory{}
	}
	return &s.shown, need.Memory{Used: s.is.MemoryInUse}
}

// Peak implements need.Demand. Percentiles show what a machine needs: it is the only replica of its workload.
func (s *sized) Peak(string) int64 { return 0 }

// Share implements need.Demand. What machines share is replayed without the planner.
func (s *sized) Share(string) ([2]float64, bool) { return [2]float64{}, false }

// Resized implements need.Demand.
func (s *sized) Resized(string) need.Resized {
	return need.Resized{s.is.ResizedCPU, s.is.ResizedMemory}
}

// newPod returns the pod of a replica as it was given. Unless it is Guaranteed, another container without requests makes
// it Burstable, whatever the limits of the machine are. It says that it was planned for its node before, so that plans
// that change nothing have nothing to write.
func newPod(p *Pod, nodeType string) *pod.Pod {
	given := sizeOf(p.Authored.Request, p.Authored.Limit)
	object := &corev1.Pod{}
	object.Annotations = map[string]string{contract.AppliedInstanceType: nodeType}
	object.CreationTimestamp = metav1.NewTime(p.ResizedCPU)
	object.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: container, Controller: new(true)}}
	object.Spec.Containers = []corev1.Container{{Name: container, Resources: corev1.ResourceRequirements{
		Requests: listOf(given.CPU.Request, given.Memory.Request), Limits: listOf(given.CPU.Limit, given.Memory.Limit),
	}}}
	if !p.Authored.Guaranteed {
		object.Spec.Containers = append(object.Spec.Containers, corev1.Container{Name: "burstable"})
	}
	return pod.Imagined(object)
}

// listOf returns the resources of a container; 0 means none.
func listOf(millicores, bytes int64) corev1.ResourceList {
	list := corev1.ResourceList{}
	if millicores != 0 {
		list[corev1.ResourceCPU] = *resource.NewMilliQuantity(millicores, resource.DecimalSI)
	}
	if bytes != 0 {
		list[corev1.ResourceMemory] = *resource.NewQuantity(bytes, resource.BinarySI)
	}
	return list
}

// sizeOf returns the size of a replica. Where the request is unknown, it is the limit, as in Kubernetes, or else the
// least that a pod can request, so that it is sized.
func sizeOf(request, limit recommend.Amounts) sizing.Container {
	amount := func(request, limit int64) sizing.Amount {
		if request == 0 {
			request = max(1, limit)
		}
		if limit != 0 {
			limit = max(limit, request)
		}
		return sizing.Amount{Request: request, Limit: limit}
	}
	return sizing.Container{CPU: amount(request.CPU, limit.CPU), Memory: amount(request.Memory, limit.Memory)}
}
