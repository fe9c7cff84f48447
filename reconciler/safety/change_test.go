package safety

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }

func nodeWith(allocatable corev1.ResourceList, conditions ...corev1.NodeCondition) *corev1.Node {
	return &corev1.Node{ObjectMeta: named("n4-0"), Status: corev1.NodeStatus{Allocatable: allocatable, Conditions: conditions}}
}

func TestChange(t *testing.T) {
	t.Run("never changes the QoS class", neverChangesTheQoSClass)
	t.Run("counts requests like the scheduler", countsRequestsLikeTheScheduler)
	t.Run("returns the first veto of Change", returnsTheFirstVetoOfChange)
	t.Run("vetoes nothing without a change", vetoesNothingWithoutAChange)
	t.Run("does not modify the pod", doesNotModifyThePod)
}

func neverChangesTheQoSClass(t *testing.T) {
	equal := app(list("cpu", "1", "memory", "1Gi"), list("cpu", "1", "memory", "1Gi"))
	burst := app(list("cpu", "800m", "memory", "1Gi"), list("cpu", "1", "memory", "1Gi"))
	init := initContainer("init", list("cpu", "1"), nil)
	guaranteed, burstable := podWith(equal), podWith(burst)
	smaller := podWith(app(list("cpu", "800m", "memory", "1Gi"), list("cpu", "800m", "memory", "1Gi")))
	for _, tc := range []struct {
		name          string
		before, after *corev1.Pod
		want          string
	}{
		{"Guaranteed to Guaranteed", guaranteed, smaller, ""},
		{"Guaranteed to Burstable", guaranteed, burstable, "the pod is Guaranteed and would become Burstable"},
		{"Burstable to Guaranteed", burstable, guaranteed, "the pod is Burstable and would become Guaranteed"},
		{"an init container counts", podWith(burst, init), podWith(equal, init), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			reason := contract.QOSClassChange
			if tc.want == "" {
				reason = ""
			}
			check(t, changeTo(tc.before, tc.after, &Surroundings{}), reason, tc.want)
		})
	}
}

func TestNodePressure(t *testing.T) {
	under := func(condition corev1.NodeConditionType, status corev1.ConditionStatus) *Surroundings {
		return &Surroundings{Room: node.Room{Node: nodeWith(nil, corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue}, corev1.NodeCondition{Type: condition, Status: status})}}
	}
	before := podWith(app(list("cpu", "1", "memory", "1Gi"), nil))
	more := podWith(app(list("cpu", "1100m", "memory", "1Gi"), nil))
	moreAndLess := podWith(app(list("cpu", "500m", "memory", "2Gi"), nil))
	for _, tc := range []struct {
		name  string
		after *corev1.Pod
		s     *Surroundings
		want  contract.Reason
	}{
		{"memory pressure, for more cpu", more, under(corev1.NodeMemoryPressure, corev1.ConditionTrue), contract.NodePressure},
		{"disk pressure", more, under(corev1.NodeDiskPressure, corev1.ConditionTrue), contract.NodePressure},
		{"PID pressure", more, under(corev1.NodePIDPressure, corev1.ConditionTrue), contract.NodePressure},
		{"one resource grows and one shrinks", moreAndLess, under(corev1.NodeMemoryPressure, corev1.ConditionTrue), contract.NodePressure},
		{"no pressure", more, under(corev1.NodeMemoryPressure, corev1.ConditionFalse), ""},
		{"unknown pressure", more, under(corev1.NodeMemoryPressure, corev1.ConditionUnknown), ""},
		{"a decrease", podWith(app(list("cpu", "900m", "memory", "1Gi"), nil)), under(corev1.NodeMemoryPressure, corev1.ConditionTrue), ""},
		{"only a limit grows", podWith(app(list("cpu", "1", "memory", "1Gi"), list("cpu", "2"))), under(corev1.NodeMemoryPressure, corev1.ConditionTrue), ""},
		{"no node", more, &Surroundings{}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) { check(t, changeTo(before, tc.after, tc.s), tc.want, "") })
	}
}

// mid puts the pod in the middle of a resize from 3 cpu.
func mid(condition corev1.PodCondition) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		running("app", &corev1.ResourceRequirements{Requests: list("cpu", "3", "memory", "1Gi")})(p)
		p.Status.ContainerStatuses[0].AllocatedResources = list("cpu", "3", "memory", "1Gi")
		p.Status.Conditions = []corev1.PodCondition{condition}
	}
}

func TestNodeCapacity(t *testing.T) {
	before := podWith(app(list("cpu", "1", "memory", "1Gi"), nil))
	to := func(cpu, memory string) *corev1.Pod { return podWith(app(list("cpu", cpu, "memory", memory), nil)) }
	on := nodeWith(list("cpu", "2", "memory", "4Gi"))
	infeasible := corev1.PodCondition{Type: corev1.PodResizePending, Reason: corev1.PodReasonInfeasible}
	inProgress := corev1.PodCondition{Type: corev1.PodResizeInProgress}
	half := node.Resources{CPU: 500, Memory: 1 << 30}
	critical := int32(2_000_001_000)
	for _, tc := range []struct {
		name          string
		before, after *corev1.Pod
		node          *corev1.Node
		neighbors     node.Resources
		want          string
	}{
		{"the last millicore fits", before, to("1500m", "1Gi"), on, half, ""},
		{"beyond the last millicore", before, to("1501m", "1Gi"), on, half, "node n4-0 has no room: cpu, requested: 1501m, other pods: 500m, allocatable: 2"},
		{"the last byte fits", before, to("1", "3Gi"), on, half, ""},
		{"beyond the last byte", before, to("1", "3073Mi"), on, half, "node n4-0 has no room: memory, requested: 3073Mi, other pods: 1Gi, allocatable: 4Gi"},
		{"both", before, to("3010m", "4Gi"), on, half, "node n4-0 has no room: cpu, requested: 3010m, other pods: 500m, allocatable: 2; memory, requested: 4Gi, other pods: 1Gi, allocatable: 4Gi"},
		{"only growing resources have to fit", before, to("900m", "2Gi"), on, node.Resources{CPU: 2000}, ""},
		{"a decrease on a full node", before, to("900m", "512Mi"), on, node.Resources{CPU: 9000, Memory: 1 << 40}, ""},
		{"no node", before, to("9", "9Gi"), nil, half, ""},
		{"a node without allocatable resources", before, to("9", "9Gi"), nodeWith(nil), half, ""},
		{"a critical pod has to fit with all resources", podWith(app(list("cpu", "1", "memory", "1Gi"), nil), func(p *corev1.Pod) { p.Spec.PriorityClassName = "system-node-critical"; p.Spec.Priority = &critical }),
			to("900m", "1Gi"), on, node.Resources{CPU: 2000, Memory: 1 << 32}, "node n4-0 has no room: cpu, requested: 900m, other pods: 2, allocatable: 2; memory, requested: 1Gi, other pods: 4Gi, allocatable: 4Gi; the pod is critical, so its kubelet would kill other pods to make room"},
		{"a resource that the node does not list", before, to("1", "9Gi"), nodeWith(list("cpu", "2")), half, ""},
		{"an init container that needs more than the rest", podWith(app(list("cpu", "1"), nil), initContainer("init", list("cpu", "1800m"), nil)),
			podWith(app(list("cpu", "1500m"), nil), initContainer("init", list("cpu", "1800m"), nil)), on, half, "node n4-0 has no room: cpu, requested: 1800m, other pods: 500m, allocatable: 2"},
		{"a sidecar counts next to the containers", podWith(app(list("cpu", "1"), nil), sidecar(list("cpu", "400m"), nil)),
			podWith(app(list("cpu", "1200m"), nil), sidecar(list("cpu", "400m"), nil)), on, half, "node n4-0 has no room: cpu, requested: 1600m, other pods: 500m, allocatable: 2"},
		{"all containers count", podWith(app(list("cpu", "1"), nil), second(list("cpu", "500m"), nil)),
			podWith(app(list("cpu", "1100m"), nil), second(list("cpu", "500m"), nil)), on, half, "node n4-0 has no room: cpu, requested: 1600m, other pods: 500m, allocatable: 2"},
		{"overhead counts", podWith(app(list("cpu", "1"), nil), func(p *corev1.Pod) { p.Spec.Overhead = list("cpu", "100m") }), to("1450m", "1Gi"), on, half, "node n4-0 has no room: cpu, requested: 1550m, other pods: 500m, allocatable: 2"},
		{"resources that the node has not freed yet count", podWith(app(list("cpu", "1", "memory", "1Gi"), nil), mid(inProgress)), to("1200m", "1Gi"), on, half, "node n4-0 has no room: cpu, requested: 3, other pods: 500m, allocatable: 2"},
		{"a resize after an infeasible one counts", podWith(app(list("cpu", "5", "memory", "1Gi"), nil), mid(infeasible)), to("6", "1Gi"), nodeWith(list("cpu", "4")), half, "node n4-0 has no room: cpu, requested: 6, other pods: 500m, allocatable: 4"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			reason := contract.NodeCapacity
			if tc.want == "" {
				reason = ""
			}
			check(t, changeTo(tc.before, tc.after, &Surroundings{Room: node.Room{Node: tc.node, Neighbors: tc.neighbors}}), reason, tc.want)
		})
	}
}

func countsRequestsLikeTheScheduler(t *testing.T) {
	for _, tc := range []struct {
		name string
		pod  *corev1.Pod
		want node.Resources
	}{
		{"containers and sidecars together", podWith(app(list("cpu", "1", "memory", "1Gi"), nil), second(list("cpu", "500m"), nil), sidecar(list("memory", "1Gi"), nil)), node.Resources{CPU: 1500, Memory: 2 << 30}},
		{"an init container that needs more", podWith(initContainer("init", list("cpu", "3"), nil)), node.Resources{CPU: 3000, Memory: 0}},
		{"resources that a shrinking pod still holds", podWith(app(list("cpu", "1"), nil), mid(corev1.PodCondition{Type: corev1.PodResizeInProgress})), node.Resources{CPU: 3000, Memory: 1 << 30}},
		{"no requests", podWith(app(nil, nil)), node.Resources{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := node.Requests(pod.From(tc.pod)); got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

// A resize meets all objections; each step removes the first one.
func returnsTheFirstVetoOfChange(t *testing.T) {
	before := podWith(app(list("cpu", "1", "memory", "1Gi"), list("cpu", "2", "memory", "2Gi")))
	after := podWith(app(list("cpu", "2", "memory", "2Gi"), list("cpu", "2", "memory", "2Gi")))
	s := &Surroundings{
		Infeasible: []string{swapping},
		Room:       node.Room{Node: nodeWith(list("cpu", "1"), corev1.NodeCondition{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue})},
		LimitRanges: []*corev1.LimitRange{{Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{
			{Type: corev1.LimitTypeContainer, Max: list("cpu", "1")},
		}}}},
		Quotas: []*corev1.ResourceQuota{{Status: corev1.ResourceQuotaStatus{Hard: list("requests.cpu", "1"), Used: list("requests.cpu", "1")}}},
	}
	for _, step := range []struct {
		want contract.Reason
		cure func()
	}{
		{contract.QOSClassChange, func() { after.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("1500m") }},
		{contract.LimitRangeViolation, func() { s.LimitRanges = nil }},
		{contract.ResizeInfeasible, func() { s.Infeasible = nil }},
		{contract.NodePressure, func() { s.Node.Status.Conditions = nil }},
		{contract.NodeCapacity, func() { s.Node = nil }},
		{contract.QuotaExceeded, func() { s.Quotas = nil }},
		{"", func() {}},
	} {
		check(t, changeTo(before, after, s), step.want, "")
		step.cure()
	}
}

func vetoesNothingWithoutAChange(t *testing.T) {
	s := &Surroundings{LimitRanges: []*corev1.LimitRange{{Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{
		{Type: corev1.LimitTypeContainer, Max: list("cpu", "1m")},
	}}}}}
	check(t, changeTo(podWith(), podWith(), s), "", "")
	check(t, changeTo(podWith(), podWith(app(list("cpu", "2"), nil)), s), contract.LimitRangeViolation, "")
}

func doesNotModifyThePod(t *testing.T) {
	before := podWith(app(list("cpu", "1"), nil), mid(corev1.PodCondition{Type: corev1.PodResizePending}))
	same := before.DeepCopy()
	s := &Surroundings{Room: node.Room{Node: nodeWith(list("cpu", "1"))}, Quotas: []*corev1.ResourceQuota{{Status: corev1.ResourceQuotaStatus{Hard: list("cpu", "1"), Used: list("cpu", "1")}}}}
	check(t, changeTo(before, podWith(app(list("cpu", "2"), nil)), s), contract.NodeCapacity, "")
	s.Node = nil
	check(t, changeTo(before, podWith(app(list("cpu", "4"), nil)), s), contract.QuotaExceeded, "")
	if !apiequality.Semantic.DeepEqual(before, same) {
		t.Error("the pod was changed")
	}
}
