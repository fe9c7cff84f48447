package plan

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// planAt plans a pod on a node with this performance and this much allocatable memory; ""
// for unlimited.
func planAt(t *testing.T, planner *Planner, p *corev1.Pod, cpu, memory float64, room string) *Plan {
	t.Helper()
	table := tableOf(t, cpu, memory, nil)
	n := podtest.Node("n4")
	if room != "" {
		n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse(room)}
	}
	s := snapshotOf(t, p, n)
	s.Table = table
	return planner.Plan(s)
}

func TestAtRatios(t *testing.T) {
	t.Run("does not adopt an unchanged size at a different ratio", doesNotAdoptAnUnchangedSizeAtADifferentRatio)
	t.Run("respects a size that was set again after a partial plan", respectsASizeThatWasSetAgainAfterAPartialPlan)
	t.Run("does not mark pods of other actors as sized", doesNotMarkPodsOfOtherActorsAsSized)
	t.Run("records an adoption although nothing changes", recordsAnAdoptionAlthoughNothingChanges)
	t.Run("adopts a request that was set to its limit", adoptsARequestThatWasSetToItsLimit)
	t.Run("restores other containers if one would change the QoS class", restoresOtherContainersIfOneWouldChangeTheQoSClass)
	t.Run("keeps adopted sizes within bounds", keepsAdoptedSizesWithinBounds)
}

// Another actor sets a different size and then the previous one, before we see it.
func doesNotAdoptAnUnchangedSizeAtADifferentRatio(t *testing.T) {
	planner := &Planner{OwnerKinds: DefaultOwnerKinds, External: AdoptExternal}
	p := podtest.Pod(podtest.Amounts{"1", "", "", ""}, asMadeWith)
	p = carriedOut(t, p, planAt(t, planner, p, 1.25, 1, ""), 10)
	p = resizedBy(p, "they", podtest.Amounts{"700m", "", "", ""})
	p = resizedBy(p, "they", podtest.Amounts{"800m", "", "", ""})
	for i, perf := range []float64{1.25, 2, 1.25} {
		p = carriedOut(t, p, planAt(t, planner, p, perf, 1, ""), 20+10*i)
	}
	if got := p.Spec.Containers[0].Resources.Requests.Cpu().String(); got != "800m" {
		t.Errorf("at the ratio at which both set 800m: %s", got)
	}
	if got := p.Annotations[contract.CPURequest.Key("app")]; got != "1" {
		t.Errorf("the original 1 became %s", got)
	}
}

// An adopted size is only partly resized, and then the other actor sets it again.
func respectsASizeThatWasSetAgainAfterAPartialPlan(t *testing.T) {
	for _, room := range []string{"64Gi", "1100Mi"} {
		for _, external := range []External{AdoptExternal, LeaveExternal} {
			planner := &Planner{OwnerKinds: DefaultOwnerKinds, External: AdoptExternal}
			p := podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, asMadeWith)
			p = carriedOut(t, p, planAt(t, planner, p, 1.25, 1, room), 10)
			p = resizedBy(p, "they", podtest.Amounts{"700m", "", "1Gi", ""})
			p = carriedOut(t, p, planAt(t, planner, p, 1.25, 1, room), 30)
			p = carriedOut(t, p, planAt(t, planner, p, 2, 0.8, room), 40)
			has := p.Spec.Containers[0].Resources.Requests
			p = resizedBy(p, "they", podtest.Amounts{"700m", "", has.Memory().String(), ""})
			planner.External = external
			next := planAt(t, planner, p, 2, 0.8, room)
			if got := next.Containers[0].Desired.CPU.Request; got != 700 {
				t.Errorf("room %s, %s: they set 700m, which is overridden with %dm; %v", room, external, got, next.Reasons)
			}
		}
	}
}

// We did nothing to a pod that another actor resized or whose history is unknown, regardless
// of the node's progress.
func doesNotMarkPodsOfOtherActorsAsSized(t *testing.T) {
	for name, p := range map[string]*corev1.Pod{
		"resized by another":   resizedBy(podtest.Pod(podtest.Amounts{"1", "", "", ""}, asMadeWith), "they", podtest.Amounts{"2", "", "", ""}),
		"merged managedFields": podtest.Pod(podtest.Amounts{"1", "", "", ""}, podtest.ManagedBy(podtest.Managed(podtest.AncientChanges, "", 1))),
	} {
		for _, reason := range []string{"", corev1.PodReasonDeferred} {
			p := p.DeepCopy()
			if reason != "" {
				p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: reason})
			}
			plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(snapshotOf(t, p, podtest.Node("n4")))
			if plan.Pending() {
				t.Errorf("%s, %q: %v because of %v has pending writes", name, reason, plan.Decision, plan.Reasons)
			}
		}
	}
}

// An adoption is recorded even if no size changes: at a different ratio, it would otherwise give
// another original.
func recordsAnAdoptionAlthoughNothingChanges(t *testing.T) {
	planner := &Planner{OwnerKinds: DefaultOwnerKinds, External: AdoptExternal}
	p := resizedBy(podtest.Pod(podtest.Amounts{"1", "", "2Gi", ""}, asMadeWith, restarts(corev1.ResourceCPU)), "they", podtest.Amounts{"1", "", "1Gi", ""})
	p = carriedOut(t, p, planAt(t, planner, p, 1.25, 1, ""), 30)
	if got := p.Annotations[contract.MemoryRequest.Key("app")]; got != "1Gi" {
		t.Errorf("the original is %q", got)
	}
}

// A request that another actor set to the original limit is adopted without the limit.
func adoptsARequestThatWasSetToItsLimit(t *testing.T) {
	planner := &Planner{OwnerKinds: DefaultOwnerKinds, External: AdoptExternal}
	p := resizedBy(podtest.Pod(podtest.Amounts{"1", "4", "1Gi", "2Gi"}, asMadeWith), "they", podtest.Amounts{"4", "4", "1Gi", "2Gi"})
	p = carriedOut(t, p, planAt(t, planner, p, 0.5, 1, ""), 30)
	if got := [2]string{p.Annotations[contract.CPURequest.Key("app")], p.Annotations[contract.CPULimit.Key("app")]}; got != [2]string{"2", "4"} {
		t.Errorf("its originals are %v", got)
	}
	p = carriedOut(t, p, planAt(t, planner, p, 1, 1, ""), 40)
	if r := p.Spec.Containers[0].Resources; r.Requests.Cpu().String() != "2" || r.Limits.Cpu().String() != "4" {
		t.Errorf("on the baseline it has %v", r)
	}
}

// If one container would change the QoS class, the restore covers the others.
func restoresOtherContainersIfOneWouldChangeTheQoSClass(t *testing.T) {
	p := podtest.Pod(podtest.Guaranteed, podtest.WithSecond(podtest.Guaranteed), asMadeWith)
	planner := &Planner{OwnerKinds: DefaultOwnerKinds}
	p = carriedOut(t, p, planAt(t, planner, p, 1.25, 1, ""), 10)
	podtest.Annotated("original-cpu-limit.app", "2")(p)
	s := snapshotOf(t, p, podtest.Node("n4"))
	s.Restore = true
	plan := planner.Plan(s)
	if second := plan.Containers[1].Desired.CPU; plan.Decision != Resize || second.Request != 1000 || plan.Containers[0].Desired.CPU.Request != 800 || !keepsRecord(plan) {
		t.Errorf("%v %v because of %v", plan.Decision, plan.Containers, plan.Reasons)
	}
}

// An adopted size respects bounds, and its limit stays above its request.
func keepsAdoptedSizesWithinBounds(t *testing.T) {
	planner := &Planner{OwnerKinds: DefaultOwnerKinds, External: AdoptExternal}
	p := resizedBy(podtest.Pod(podtest.Amounts{"50m", "100m", "64Mi", "64Mi"}, asMadeWith), "they", podtest.Amounts{"102m", "227m", "64Mi", "64Mi"})
	p = carriedOut(t, p, planAt(t, planner, p, 1.03, 1, ""), 30)
	s := snapshotOf(t, p, podtest.Node("n4"))
	s.Table = tableOf(t, 2.2, 1, &policy.Bounds{CPU: sizing.Range{Min: 101, Max: 101}})
	plan := planner.Plan(s)
	if c := plan.Containers[0].Desired.CPU; plan.Decision != Resize || c.Request != 101 || c.Limit <= 101 {
		t.Errorf("%v %v because of %v", plan.Decision, c, plan.Reasons)
	}
}

func TestImplausible(t *testing.T) {
	t.Run("resizes at the maximum", resizesAtTheMaximum)
	t.Run("skips the pod as a whole if one resource is implausible", skipsThePodAsAWholeIfOneResourceIsImplausible)
	t.Run("counts as a veto if the pod would get different sizes", countsAsAVetoIfThePodWouldGetDifferentSizes)
	t.Run("restores a pod", restoresAPodWithAnImplausibleRatio)
	t.Run("adopts nothing", adoptsNothingAtAnImplausibleRatio)
}

func resizesAtTheMaximum(t *testing.T) {
	plan := planAt(t, &Planner{OwnerKinds: DefaultOwnerKinds}, podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}), 5, 0.2, "")
	if c := plan.Containers[0].Desired; plan.Decision != Resize || c.CPU.Request != 200 || c.Memory.Request != 5*podtest.GiB {
		t.Errorf("%v %v because of %v", plan.Decision, c, plan.Reasons)
	}
}

func skipsThePodAsAWholeIfOneResourceIsImplausible(t *testing.T) {
	plan := planAt(t, &Planner{OwnerKinds: DefaultOwnerKinds}, podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}), 1.25, 100, "")
	if c := plan.Containers[0]; plan.Decision != Skip || plan.Reasons[0].Code != contract.ImplausibleRatio || c.Desired != c.Current || plan.Pending() {
		t.Errorf("%v %v because of %v", plan.Decision, c, plan.Reasons)
	}
}

func countsAsAVetoIfThePodWouldGetDifferentSizes(t *testing.T) {
	for _, tc := range []struct {
		cpu, memory float64
		want        bool
	}{{125, 1, true}, {1, 125, false}} {
		plan := planAt(t, &Planner{OwnerKinds: DefaultOwnerKinds}, podtest.Pod(podtest.Amounts{"1", "", "", ""}), tc.cpu, tc.memory, "")
		if plan.Decision != Skip || plan.Vetoed != tc.want {
			t.Errorf("cpu %v, memory %v: %v, vetoed %v", tc.cpu, tc.memory, plan.Decision, plan.Vetoed)
		}
	}
}

func restoresAPodWithAnImplausibleRatio(t *testing.T) {
	p := podtest.Pod(podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, podtest.AsResized, podtest.SizedForN4)
	s := snapshotOf(t, p, podtest.Node("n4"))
	s.Table, s.Restore = tableOf(t, 1e308, 1, nil), true
	plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
	if c := plan.Containers[0].Desired.CPU; plan.Decision != Resize || c.Request != 1000 || c.Limit != 1000 {
		t.Errorf("%v %v because of %v", plan.Decision, c, plan.Reasons)
	}
}

// An original that is computed with an implausible factor would stay wrong after the factor is
// corrected.
func adoptsNothingAtAnImplausibleRatio(t *testing.T) {
	planner := &Planner{OwnerKinds: DefaultOwnerKinds, External: AdoptExternal}
	p := resizedBy(podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, asMadeWith), "they", podtest.Amounts{"2", "", "1Gi", ""})
	if plan := planAt(t, planner, p, 125, 1, ""); plan.Pending() || plan.Reasons[0].Code != contract.ImplausibleRatio {
		t.Errorf("%v because of %v", plan.Decision, plan.Reasons)
	}
	p = carriedOut(t, p, planAt(t, planner, p, 1.25, 1, ""), 30)
	if got := p.Annotations[contract.CPURequest.Key("app")]; got != "2500m" {
		t.Errorf("after the correction, the original is %q", got)
	}
}
