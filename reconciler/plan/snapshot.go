package plan

import (
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// Snapshot is the input of a plan. Plans do not change it.
type Snapshot struct {
	Pod *pod.Pod
	// Workloads are the pod's controller, the controller's controller, and so on:
	// the narrowest first.
	Workloads []workload.Workload
	Table     *ratios.Table
	// Around describes the node and the namespace of the pod. Around.Node is nil if
	// the node is unknown.
	Around safety.Surroundings
	// NodeType overrides the type of the pod's node; empty for the type from its labels.
	NodeType string
	// Autoscalers returns the HorizontalPodAutoscalers of the pod's workload; nil for none.
	// It is a function because only pods whose sizes differ from their originals, or follow usage, need them.
	Autoscalers func() []*autoscalingv2.HorizontalPodAutoscaler
	// Siblings returns the pods of the pod's workload: of all ReplicaSets of its Deployment or, without one, of
	// its controller. They may include the pod. It is nil if no size is tried on some of them first. It is a function
	// because only decreases need them. NodeOf returns the node of such a pod; nil if it is unknown.
	Siblings func() []*pod.Pod
	NodeOf   func(*pod.Pod) *corev1.Node
	// Budgets returns the PodDisruptionBudgets that select the pod, by name; nil if disruptions are not
	// limited. It is a function because only decreases need them.
	Budgets func() []workload.Limit
	// VPA is the VerticalPodAutoscaler for the pod's workload that may size it; nil if there is
	// none.
	VPA *safety.VPA
	// Frozen is the freeze of the cluster; nil if it is not frozen. It outranks Paused and Restore.
	Frozen *Stop
	// Paused is the pause that applies to the pod; nil if resizing is not paused for it.
	Paused *Stop
	// Degraded is the breaker that stops the sizing of the pod; nil if none does. The pod is still reverted
	// and restored.
	Degraded *Stop
	// Restore requests the originals, and the removal of our annotations.
	Restore bool
	// Emergency means that Restore is requested by an emergency restore.
	Emergency bool
	// Refused is the size that the node refused before; nil if it refused none.
	Refused *Refusal
	// Failed is what the last writes to the pod met; nil if they succeeded.
	Failed *Failure
	// Signals are what sources of usage show of the pod; the zero value without a cluster.
	Signals guard.Signals
	// Largest returns the most of each resource that any node has; nil if no nodes are known. It is a function because only
	// pods need it that need more than their own node has.
	Largest func() node.Resources
	// Demand is what the pod needs according to usage; nil if it needs what its author wrote.
	Demand need.Demand
	// Now is the time of the plan. It determines which of the kubelet's conditions and
	// answers still count. The zero time is before all of them.
	Now time.Time
	// InfeasibleUntil is the time until which Around.Infeasible counts; zero if that is
	// empty.
	InfeasibleUntil time.Time

	// Creating means that the pod is being created: what it would otherwise take a restart to change can change, and its size
	// is the one that is needed, not one that is near enough.
	Creating bool
	// Anywhere means that a pod that is being created may also run on nodes of other types than the one that it is planned
	// for.
	Anywhere bool
	// Lot is a number from 0 up to 1 that is drawn for a pod that is being created. Replicas of the server share no count of
	// the pods that try a size. So each of these tries it with the probability that is its share.
	Lot float64
	// Unboosted means that no cpu is boosted, although the pod starts.
	Unboosted bool
	// Settled treats a resize that is in progress on the node as completed.
	Settled bool
	// InTheEnd plans the size that the pod gets once it need not wait for readiness, other pods or steps.
	InTheEnd bool
}

// Stop is a freeze, a pause or an open breaker.
type Stop struct {
	// Scope names the pods that it is for.
	Scope string
	Since time.Time
	// Author and Reason are as their author gave them; they may be empty.
	Author, Reason string
}

// Imagine turns the snapshot into a snapshot of the pod on an unknown node of the type.
func (s *Snapshot) Imagine(nodeType string) {
	s.NodeType, s.Siblings, s.Budgets = nodeType, nil, nil
	s.Around.Room, s.Around.Infeasible, s.Refused, s.Failed = node.Room{}, nil, nil, nil
}

// imagines reports whether the node of the pod is an imagined one.
func (s *Snapshot) imagines() bool { return s.NodeType != "" && !s.Creating }

// CreateFor says for which node type a pod is created. If the pod names its node, that is in the snapshot; otherwise any node
// of the type will do.
func (s *Snapshot) CreateFor(nodeType string) {
	if s.Around.Node == nil {
		s.NodeType, s.Around.Room, s.Around.Infeasible = nodeType, node.Room{}, nil
	}
}

// autoscalers returns the HorizontalPodAutoscalers of the pod's workload.
func (s *Snapshot) autoscalers() []*autoscalingv2.HorizontalPodAutoscaler {
	if s.Autoscalers == nil {
		return nil
	}
	return s.Autoscalers()
}

// progress returns what the node reports about the pod's last resize. An imagined node
// reports nothing.
func (s *Snapshot) progress() progress {
	if s.NodeType != "" {
		return progress{}
	}
	now := progressOf(s.Pod, s.Now)
	if s.Settled && now.code == contract.ResizeInProgress {
		return progress{}
	}
	return now
}

// Imagine plans a pod that does not exist yet (pod.Imagined) as if it ran alone on a node of
// the type. The plan names no node.
func (p *Planner) Imagine(of *pod.Pod, nodeType string, table *ratios.Table) *Plan {
	s := &Snapshot{Pod: of, Table: table}
	s.Imagine(nodeType)
	plan := p.Plan(s)
	plan.Node = ""
	return plan
}
