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
	// Sidecars has restartable init containers resized too.
	Sidecars bool
	// External says what becomes of pods that somebody else resized.
	External External
}

// Plan plans one pod. The order of what can speak against a resize is that of
// package safety.
func (p *Planner) Plan(s *Snapshot) *Plan {
	plan, entry, bounds := p.begin(s)
	h := historyOf(s.Pod)
	if s.Restore {
		return p.restore(plan, s, &h)
	}
	if veto := safety.Scope(safety.Snapshot{Pod: s.Pod, OwnerKinds: p.OwnerKinds, Paused: s.Paused, VPA: s.VPA}); veto != nil {
		return plan.skip(veto)
	}
	if entry == nil {
		return plan.skip(p.noRatio(plan, s.Around.Node))
	}
	if veto := p.originals(plan, s.Pod, &h); veto != nil {
		return plan.skip(veto)
	}
	scale(plan, bounds)
	p.holdBack(plan, s.Pod)
	if veto := p.external(plan, s.Pod, &h, bounds); veto != nil {
		return plan.skip(veto)
	}
	plan.explainUnknown()
	now := s.progress(h.ours)
	if !plan.differs() {
		return p.keep(plan, s, &h, now, bounds)
	}
	veto := plan.unready(s, now)
	before, after := plan.sizes(s.Pod)
	if veto == nil {
		veto = safety.Change(s.Pod, plan.QOSClass, before, after, &s.Around)
	}
	if veto != nil {
		plan.skip(veto)
		// The spec must not go on asking for what the node refuses.
		p.putBack(plan, s, &h, now, bounds)
		return plan
	}
	plan.explainBounds()
	if s.Autoscalers != nil {
		for _, hpa := range s.Autoscalers() {
			if warning := safety.HPAWarning(hpa, s.Pod, before, after); warning != "" {
				plan.because(contract.HPAUtilization, warning)
			}
		}
	}
	plan.Decision = Resize
	return plan
}

// begin notes what the pod has and what its node is. entry is nil if the node's
// type has no ratio.
func (p *Planner) begin(s *Snapshot) (plan *Plan, entry *ratios.Entry, bounds ratios.Bounds) {
	pod := s.Pod
	r := p.rule(pod, s.Around.Node, s.NodeType, s.Table)
	plan = &Plan{
		Pod:             types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name},
		UID:             pod.UID,
		ResourceVersion: pod.ResourceVersion,
		QOSClass:        pod.Status.QOSClass,
		Node:            pod.Spec.NodeName,
		NodeType:        r.NodeType,
		NodeTypeLabel:   r.Label,
		Rule:            r.profile.Name,
		Baseline:        r.profile.Baseline,
		Revision:        s.Table.Revision,
		Containers:      make([]ContainerPlan, 0, len(pod.Spec.Containers)+len(pod.Spec.InitContainers)),
		applied:         pod.Annotations[contract.AppliedInstanceType],
		workloads:       s.Workloads,
	}
	for i := range pod.Spec.Containers {
		plan.add(&pod.Spec.Containers[i], false)
	}
	for i := range pod.Spec.InitContainers {
		// A restore undoes what was done when sidecars were resized.
		if c := &pod.Spec.InitContainers[i]; safety.IsSidecar(c) && (p.Sidecars || s.Restore && recorded(pod, c.Name)) {
			plan.add(c, true)
		}
	}
	if plan.QOSClass == "" {
		plan.QOSClass = plan.classAfter(pod)
	}
	if r.entry != nil {
		plan.CPUFactor, plan.MemoryFactor = r.entry.CPUFactor, r.entry.MemoryFactor
	}
	return plan, r.entry, r.profile.Bounds
}

func (p *Plan) add(c *corev1.Container, sidecar bool) {
	current := sizing.FromResources(c.Resources)
	p.Containers = append(p.Containers, ContainerPlan{Name: c.Name, Original: current, Current: current, Desired: current, Sidecar: sidecar, spec: c})
}

// recorded tells whether the pod has originals of the container.
func recorded(pod *corev1.Pod, container string) bool {
	_, cpu := contract.CPURequest.In(pod.Annotations, container)
	_, memory := contract.MemoryRequest.In(pod.Annotations, container)
	return cpu || memory
}

// sizes lists all containers of the pod as they are and as they would be.
func (p *Plan) sizes(pod *corev1.Pod) (before, after safety.Sizes) {
	n, m := len(pod.Spec.Containers), len(pod.Spec.InitContainers)
	all := make([]sizing.Container, 2*(n+m))
	before = safety.Sizes{Containers: all[:n:n], InitContainers: all[n : n+m : n+m]}
	after = safety.Sizes{Containers: all[n+m : 2*n+m : 2*n+m], InitContainers: all[2*n+m:]}
	sidecars := p.Containers[n:]
	for i := range n {
		before.Containers[i], after.Containers[i] = p.Containers[i].Current, p.Containers[i].Desired
	}
	for i := range m {
		c := &pod.Spec.InitContainers[i]
		if len(sidecars) > 0 && sidecars[0].Name == c.Name {
			before.InitContainers[i], after.InitContainers[i] = sidecars[0].Current, sidecars[0].Desired
			sidecars = sidecars[1:]
			continue
		}
		before.InitContainers[i] = sizing.FromResources(c.Resources)
		after.InitContainers[i] = before.InitContainers[i]
	}
	return before, after
}

// classAfter is the QoS class that the pod would have.
func (p *Plan) classAfter(pod *corev1.Pod) corev1.PodQOSClass {
	_, after := p.sizes(pod)
	return sizing.QOSClass(after.Containers, after.InitContainers)
}

// noRatio says why the node of the plan has no ratio.
func (p *Planner) noRatio(plan *Plan, node *corev1.Node) *safety.Veto {
	switch {
	case plan.NodeType != "" && plan.NodeTypeLabel == "":
		return &safety.Veto{Reason: contract.UnknownNodeType, Message: fmt.Sprintf("node type %q has no ratio", plan.NodeType)}
	case node == nil:
		return &safety.Veto{Reason: contract.NodeNotFound, Message: fmt.Sprintf("node %s is not known", plan.Node)}
	case plan.NodeType == "":
		return &safety.Veto{Reason: contract.NodeTypeUnlabelled, Message: fmt.Sprintf("node %s has none of the labels %s", plan.Node, strings.Join(p.NodeTypes.TellingLabels(), ", "))}
	}
	return &safety.Veto{Reason: contract.UnknownNodeType, Message: fmt.Sprintf("node %s is of type %q (label %s), which has no ratio", plan.Node, plan.NodeType, plan.NodeTypeLabel)}
}

// fillOriginals finds what the author of the pod asked for.
func fillOriginals(plan *Plan, pod *corev1.Pod, h *history) *safety.Veto {
	o := newOriginals(pod.Annotations, h)
	for i := range plan.Containers {
		c := &plan.Containers[i]
		if err := o.fill(c); err != nil {
			return &safety.Veto{Reason: contract.InvalidAnnotation, Message: err.Error()}
		}
	}
	for _, message := range o.ignored {
		plan.because(contract.AnnotationIgnored, message)
		plan.corrected = true
	}
	return nil
}

// scale works out the sizes.
func scale(plan *Plan, bounds ratios.Bounds) {
	cpuFactor, memoryFactor := sizing.Factor(plan.CPUFactor), sizing.Factor(plan.MemoryFactor)
	for i := range plan.Containers {
		c := &plan.Containers[i]
		var to sizing.Container
		to.CPU, c.cpuClamped = sizing.CPU(c.Original.CPU, cpuFactor, sizing.Range(bounds.CPU))
		to.Memory, c.memoryClamped = sizing.Memory(c.Original.Memory, memoryFactor, sizing.Range(bounds.Memory))
		c.want(to)
	}
}

// want makes to the desired sizes, as far as they are ours to change.
func (c *ContainerPlan) want(to sizing.Container) {
	c.Desired.CPU = c.cpu.settle(c.Current.CPU, to.CPU)
	c.Desired.Memory = c.memory.settle(c.Current.Memory, to.Memory)
	c.cpuClamped = c.cpuClamped && c.cpu != stays
	c.memoryClamped = c.memoryClamped && c.memory != stays
}

// explainUnknown says what stays because its original is not known.
func (p *Plan) explainUnknown() {
	for i := range p.Containers {
		c := &p.Containers[i]
		if c.cpu == stays {
			p.because(contract.InvalidAnnotation, "container "+c.Name+": cpu stays, it came after the other originals or its own got lost")
		}
		if c.memory == stays {
			p.because(contract.InvalidAnnotation, "container "+c.Name+": memory stays, it came after the other originals or its own got lost")
		}
	}
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
