package reconciler

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// DefaultOwnerKinds are the kinds of controllers whose pods are resized.
var DefaultOwnerKinds = []string{"ReplicaSet", "StatefulSet", "DaemonSet", "Job"}

// Planner decides what becomes of a pod. It is pure: the same snapshot gives
// the same plan.
type Planner struct {
	// OwnerKinds are the kinds of controllers whose pods are resized.
	OwnerKinds []string
	// NodeTypes tells the type of a node.
	NodeTypes nodetype.Resolver
	// KeepMemoryLimits tells that the API server does not let a memory limit
	// shrink without a restart (Kubernetes 1.33).
	KeepMemoryLimits bool
}

// Plan plans one pod. node is the pod's node, nil if it is not known.
func (p *Planner) Plan(pod *corev1.Pod, node *corev1.Node, table *ratios.Table) *Plan {
	plan := &Plan{
		Pod:             types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name},
		UID:             pod.UID,
		ResourceVersion: pod.ResourceVersion,
		Node:            pod.Spec.NodeName,
		Baseline:        table.Baseline,
		Revision:        table.Revision,
		Containers:      make([]ContainerPlan, len(pod.Spec.Containers)),
		applied:         pod.Annotations[contract.AppliedInstanceType],
	}
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		current := sizing.FromResources(c.Resources)
		plan.Containers[i] = ContainerPlan{Name: c.Name, Original: current, Current: current, Desired: current}
	}
	plan.QOSClass = qosClass(pod, plan.Containers)
	if node != nil {
		match, _ := p.NodeTypes.Resolve(node.Labels, table.Knows)
		plan.NodeType, plan.NodeTypeLabel = match.NodeType, match.Label
	}

	if veto := p.fill(plan, pod, node, table); veto != nil {
		plan.Decision = Skip
		plan.Reasons = []Reason{{veto.Reason, veto.Message}}
		plan.unrecorded = nil
		for i := range plan.Containers {
			plan.Containers[i].Desired = plan.Containers[i].Current
		}
		return plan
	}
	for i := range plan.Containers {
		if plan.Containers[i].Desired != plan.Containers[i].Current {
			plan.Decision = Resize
			return plan
		}
	}
	plan.Decision = Align
	if !plan.heldBack() {
		plan.Reasons = append([]Reason{{contract.AlreadyAligned, "the requests are what node type " + plan.NodeType + " needs"}}, plan.Reasons...)
	} else if plan.applied == "" && !plan.resized() && !resizedByUs(pod) {
		// Nothing was ever done to the pod, and nothing can be.
		plan.Decision = Skip
	}
	return plan
}

// fill works out the sizes, or returns why the pod must be left alone.
func (p *Planner) fill(plan *Plan, pod *corev1.Pod, node *corev1.Node, table *ratios.Table) *safety.Veto {
	if veto := safety.Scope(safety.Snapshot{Pod: pod, OwnerKinds: p.OwnerKinds}); veto != nil {
		return veto
	}
	entry, veto := ratio(plan, node, table, p.NodeTypes)
	if veto != nil {
		return veto
	}
	plan.CPUFactor, plan.MemoryFactor = entry.CPUFactor, entry.MemoryFactor

	originals := newOriginals(pod)
	for i := range plan.Containers {
		c := &plan.Containers[i]
		if err := originals.fill(c); err != nil {
			return &safety.Veto{Reason: contract.InvalidAnnotation, Message: err.Error()}
		}
		if c.cpu != stays {
			c.Desired.CPU, c.cpuClamped = sizing.CPU(c.Original.CPU, sizing.Factor(plan.CPUFactor), sizing.Range(table.Bounds.CPU))
		}
		if c.cpu == limitStays {
			c.Desired.CPU.Limit = max(c.Desired.CPU.Request, c.Current.CPU.Limit)
		}
		if c.memory != stays {
			c.Desired.Memory, c.memoryClamped = sizing.Memory(c.Original.Memory, sizing.Factor(plan.MemoryFactor), sizing.Range(table.Bounds.Memory))
		}
		if c.memory == limitStays {
			c.Desired.Memory.Limit = max(c.Desired.Memory.Request, c.Current.Memory.Limit)
		}
	}
	plan.unrecorded = originals.unrecorded
	p.holdBack(plan, pod)
	plan.explainBounds()
	return safety.Change(plan.QOSClass, after(pod, plan.Containers))
}

// ratio finds the ratio of the pod's node.
func ratio(plan *Plan, node *corev1.Node, table *ratios.Table, nodeTypes nodetype.Resolver) (*ratios.Entry, *safety.Veto) {
	if node == nil {
		return nil, &safety.Veto{Reason: contract.NodeNotFound, Message: fmt.Sprintf("node %s is not known", plan.Node)}
	}
	if plan.NodeType == "" {
		return nil, &safety.Veto{Reason: contract.NodeTypeUnlabelled, Message: fmt.Sprintf("node %s has none of the labels %s", plan.Node, strings.Join(nodeTypes.Labels(), ", "))}
	}
	entry, ok := table.Lookup(plan.NodeType)
	if !ok {
		return nil, &safety.Veto{Reason: contract.UnknownNodeType, Message: fmt.Sprintf("node %s is of type %q (label %s), which has no ratio", plan.Node, plan.NodeType, plan.NodeTypeLabel)}
	}
	return entry, nil
}

// explainBounds says where a bound decided.
func (p *Plan) explainBounds() {
	for i := range p.Containers {
		c := &p.Containers[i]
		if c.cpuClamped {
			p.because(contract.BoundsClamped, fmt.Sprintf("container %s: cpu %s × %.4g is held at %s", c.Name, sizing.CPUText(c.Original.CPU.Request), p.CPUFactor.Float64(), sizing.CPUText(c.Desired.CPU.Request)))
		}
		if c.memoryClamped {
			p.because(contract.BoundsClamped, fmt.Sprintf("container %s: memory %s × %.4g is held at %s", c.Name, sizing.MemoryText(c.Original.Memory.Request), p.MemoryFactor.Float64(), sizing.MemoryText(c.Desired.Memory.Request)))
		}
	}
}

// qosClass is the class that the API server gave the pod.
func qosClass(pod *corev1.Pod, containers []ContainerPlan) corev1.PodQOSClass {
	if pod.Status.QOSClass != "" {
		return pod.Status.QOSClass
	}
	return sizing.QOSClass(after(pod, containers))
}

// after lists all containers as they would be, init containers included.
func after(pod *corev1.Pod, containers []ContainerPlan) []sizing.Container {
	all := make([]sizing.Container, 0, len(containers)+len(pod.Spec.InitContainers))
	for i := range containers {
		all = append(all, containers[i].Desired)
	}
	for i := range pod.Spec.InitContainers {
		all = append(all, sizing.FromResources(pod.Spec.InitContainers[i].Resources))
	}
	return all
}
