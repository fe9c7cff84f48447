package evict

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	schedulingcorev1 "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// Unjudged returns what of a pod this package cannot judge, so that it must not be moved; empty if it can judge all.
func Unjudged(p *corev1.Pod) string {
	switch {
	case p.Spec.SchedulerName != "" && p.Spec.SchedulerName != corev1.DefaultSchedulerName:
		return fmt.Sprintf("its scheduler is %s, whose decisions are not known", p.Spec.SchedulerName)
	case len(p.Spec.ResourceClaims) > 0:
		return "it uses resource claims, whose devices are not known"
	case sizeOf(p) > mostJudged:
		return "it has more volumes, ports, tolerations and terms of affinity than are judged"
	case authorChoseNode(p):
		return "its author chose its node, so that the scheduler does not"
	}
	for i := range p.Spec.Volumes {
		if v := &p.Spec.Volumes[i]; v.Ephemeral != nil {
			return fmt.Sprintf("it is not known where its ephemeral volume %s can be created", v.Name)
		}
	}
	for _, term := range append(slices.Clone(attracts(p)), neighborOf(p).Repels...) {
		if picksNamespaces(&term) {
			return "its affinity selects namespaces by their labels, which are not known"
		}
		if len(term.MatchLabelKeys) > 0 || len(term.MismatchLabelKeys) > 0 {
			return "its affinity has matchLabelKeys"
		}
	}
	return ""
}

// mostJudged is how many bytes may say where a pod can be: each term is compared to all pods.
const mostJudged = 32 << 10

// sizeOf returns how many bytes say where a pod can be.
func sizeOf(p *corev1.Pod) (n int) {
	if p.Spec.Affinity != nil {
		n = p.Spec.Affinity.Size()
	}
	for i := range p.Spec.TopologySpreadConstraints {
		n += p.Spec.TopologySpreadConstraints[i].Size()
	}
	for i := range p.Spec.Tolerations {
		n += p.Spec.Tolerations[i].Size()
	}
	const claim = 256 // Where its volume can be is asked.
	for i := range p.Spec.Volumes {
		if p.Spec.Volumes[i].PersistentVolumeClaim != nil {
			n += claim
		}
	}
	for _, list := range [...][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range list {
			for k := range list[i].Ports {
				n += list[i].Ports[k].Size()
			}
		}
	}
	for key, value := range p.Spec.NodeSelector {
		n += len(key) + len(value)
	}
	return n
}

// authorChoseNode reports whether a pod was created with its node: the scheduler binds a pod without becoming a manager of the
// field.
func authorChoseNode(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.ManagedFields, func(m metav1.ManagedFieldsEntry) bool {
		return m.FieldsV1 != nil && bytes.Contains(m.FieldsV1.GetRawBytes(), []byte(`"f:nodeName"`))
	})
}

// Fits returns the nodes, other than its own, that the scheduler would place the pod on if it requested the given amounts,
// and otherwise why it fits nowhere. The pod itself may be on any of the nodes, and then does not count there.
func (s *Scene) Fits(p *corev1.Pod, requests corev1.ResourceList) (fits []string, why string) {
	refused := map[string]int{}
	m := &mover{Scene: s, Pod: p, self: neighborOf(p), affinity: nodeaffinity.GetRequiredNodeAffinity(p), requests: sorted(requests)}
	m.company, m.spreads = s.companyOf(p, m.self), s.spreads(p, m.self, m.affinity)
	for _, on := range s.Nodes {
		if on.Name == p.Spec.NodeName {
			continue
		}
		if reason := m.refused(on); reason != "" {
			refused[reason]++
			continue
		}
		fits = append(fits, on.Name)
	}
	if len(fits) > 0 {
		return fits, ""
	}
	return nil, commonest(refused)
}

// commonest says which reason most nodes have.
func commonest(refused map[string]int) string {
	reason, all := "", 0
	for r, n := range refused {
		all += n
		if most := refused[reason]; n > most || n == most && r < reason {
			reason = r
		}
	}
	if reason == "" {
		return "there is no other node"
	}
	return fmt.Sprintf("%d of %d other nodes: %s", refused[reason], all, reason)
}

// mover is a pod that may move, and what is the same for all nodes.
type mover struct {
	*Scene
	*corev1.Pod
	self     *Neighbor
	affinity nodeaffinity.RequiredNodeAffinity
	requests []request
	company  company
	spreads  []spread
}

// refused returns why a node would not take the pod; empty if it would. The order is the same as in the scheduler.
func (m *mover) refused(on *Node) string {
	if reason := repelled(on.Node, m.Pod); reason != "" {
		return reason
	}
	if match, err := m.affinity.Match(on.Node); err != nil || !match {
		return "the pod's node selector or affinity excludes it"
	}
	if on.Vague {
		return "a pod there has more volumes, ports and terms of anti-affinity than are judged"
	}
	if conflict := portConflict(on, m.self); conflict != "" {
		return conflict
	}
	if lack := m.lacks(on); lack != "" {
		return lack
	}
	if reason := m.volumes(on); reason != "" {
		return reason
	}
	if reason := uneven(m.spreads, on); reason != "" {
		return reason
	}
	return m.company.refuses(on)
}

// repelled returns the taint that keeps a pod off a node, or that the node is not ready; empty if nothing does.
func repelled(on *corev1.Node, p *corev1.Pod) string {
	if reason := tainted(on, p); reason != "" {
		return reason
	}
	for _, c := range on.Status.Conditions {
		switch {
		case c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue:
			return "it is not ready"
		case (c.Type == corev1.NodeMemoryPressure || c.Type == corev1.NodeDiskPressure || c.Type == corev1.NodePIDPressure) && c.Status == corev1.ConditionTrue:
			return "it is under pressure"
		}
	}
	return ""
}

// tainted returns the taint that keeps a pod off a node; empty if none does.
func tainted(on *corev1.Node, p *corev1.Pod) string {
	logger := klog.Background()
	untolerated := func(t corev1.Taint) bool {
		return t.Effect != corev1.TaintEffectPreferNoSchedule && !schedulingcorev1.TolerationsTolerateTaint(logger, p.Spec.Tolerations, &t, false)
	}
	if on.Spec.Unschedulable && untolerated(corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}) {
		return "it is cordoned"
	}
	if i := slices.IndexFunc(on.Spec.Taints, untolerated); i >= 0 {
		return "the pod does not tolerate its taint " + on.Spec.Taints[i].Key
	}
	return ""
}

// request is how much of a resource a pod requests.
type request struct {
	name   corev1.ResourceName
	wanted resource.Quantity
}

// sorted returns requests, other than for nothing, by name.
func sorted(requests corev1.ResourceList) (all []request) {
	for name, wanted := range requests {
		if !wanted.IsZero() {
			all = append(all, request{name, wanted})
		}
	}
	slices.SortFunc(all, func(a, b request) int { return strings.Compare(string(a.name), string(b.name)) })
	return all
}

// lacks returns which resource a node does not have enough of; empty if it has enough of all.
func (m *mover) lacks(on *Node) string {
	if most, ok := on.Status.Allocatable[corev1.ResourcePods]; !ok || int64(len(on.Pods)+len(m.Coming)) >= most.Value() {
		return "it has no room for more pods"
	}
	for i := range m.requests {
		name := m.requests[i].name
		free := on.Status.Allocatable[name].DeepCopy()
		free.Sub(on.Requested[name])
		for _, requests := range m.Coming {
			free.Sub(requests[name])
		}
		if free.Cmp(m.requests[i].wanted) < 0 {
			return "too little " + string(name)
		}
	}
	return ""
}

// portConflict returns that a port of the node is in use; empty if the pod needs none that is.
func portConflict(on *Node, self *Neighbor) string {
	any := func(ip string) bool { return ip == "" || ip == "0.0.0.0" }
	protocol := func(of corev1.Protocol) corev1.Protocol {
		if of == "" {
			return corev1.ProtocolTCP
		}
		return of
	}
	for _, port := range self.Ports {
		for i := range on.Pods {
			for _, used := range on.Pods[i].Ports {
				if on.Pods[i].UID != self.UID && used.HostPort == port.HostPort && protocol(used.Protocol) == protocol(port.Protocol) &&
					(used.HostIP == port.HostIP || any(used.HostIP) || any(port.HostIP)) {
					return fmt.Sprintf("its port %d is in use", port.HostPort)
				}
			}
		}
	}
	return ""
}

// volumes returns which volume of the pod the node cannot use; empty if it can use all.
func (m *mover) volumes(on *Node) string {
	more := map[string]int{}
	for _, name := range m.self.Claims {
		claim := m.Claims[name]
		switch {
		case claim == nil || !claim.Bound:
			return "it is not known where the volumes of the pod can be used"
		case !claim.usable(on.Node):
			return "a volume of the pod cannot be used there"
		case !claim.Shared && m.inUse(name, on):
			return "another pod uses a volume of the pod on a different node"
		case claim.Driver != "" && on.Limits == nil:
			return "it is not known how many volumes it can attach"
		case claim.Driver != "":
			more[claim.Driver]++
		}
	}
	for driver, n := range more {
		switch limit, has := on.Limits[driver]; {
		case !has:
			return "it has no driver for a volume of the pod"
		case on.Attached+n > limit:
			return "it cannot attach more volumes"
		}
	}
	return ""
}

// inUse reports whether a pod on a node other than on uses a claim of the pod, too.
func (m *mover) inUse(claim string, on *Node) bool {
	for _, n := range m.Nodes {
		for i := range n.Pods {
			if other := &n.Pods[i]; n != on && other.UID != m.UID && other.Namespace == m.Namespace && (other.Vague || slices.Contains(other.Claims, claim)) {
				return true
			}
		}
	}
	return false
}
