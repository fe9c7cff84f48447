package plan

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// classOf returns the QoS class as the API server determines it
// (pkg/apis/core/helper/qos): from the sums over all containers.
func classOf(p *corev1.Pod) corev1.PodQOSClass {
	requests, limits := corev1.ResourceList{}, corev1.ResourceList{}
	limited := true
	for _, c := range slices.Concat(p.Spec.Containers, p.Spec.InitContainers) {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			request, limit := c.Resources.Requests[name], c.Resources.Limits[name]
			limited = limited && limit.Sign() > 0
			add(requests, name, request)
			add(limits, name, limit)
		}
	}
	switch {
	case len(requests) == 0 && len(limits) == 0:
		return corev1.PodQOSBestEffort
	case limited && equality.Semantic.DeepEqual(requests, limits):
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

func add(sums corev1.ResourceList, name corev1.ResourceName, q resource.Quantity) {
	if q.Sign() <= 0 {
		return
	}
	sum := sums[name]
	sum.Add(q)
	sums[name] = sum
}

// carriedOut returns the pod after a plan is applied: with the patches of the actuator, applied
// as the API server does, and with updated managedFields.
func carriedOut(t testing.TB, p *corev1.Pod, plan *Plan, seconds int) *corev1.Pod {
	t.Helper()
	if !plan.Pending() {
		return p
	}
	for _, w := range actionsAt(plan, podtest.At(seconds)) {
		if w.Step == StepClean {
			p = p.DeepCopy()
			maps.DeleteFunc(p.Annotations, func(key, _ string) bool { return plan.Removes(key) })
			p.ManagedFields = pod.WithoutResizes(p.ManagedFields)
			continue
		}
		subresource := ""
		if w.Step.Resizes() {
			subresource = contract.ResizeSubresource
		}
		after := patched(t, p, plan.Patch(w, plan.ResourceVersion))
		after.ManagedFields = owning(p, after, contract.FieldManager, subresource, seconds)
		p = after
	}
	return p
}

func patched(t testing.TB, p *corev1.Pod, patch []byte) *corev1.Pod {
	t.Helper()
	// The managedFields of tests are not JSON, and patches do not change them.
	bare := p.DeepCopy()
	bare.ManagedFields = nil
	before, err := json.Marshal(bare)
	if err != nil {
		t.Fatal(err)
	}
	after, err := strategicpatch.StrategicMergePatch(before, patch, corev1.Pod{})
	if err != nil {
		t.Fatal(err)
	}
	var q corev1.Pod
	if err := json.Unmarshal(after, &q); err != nil {
		t.Fatal(err)
	}
	q.ManagedFields = slices.Clone(p.ManagedFields)
	return &q
}

// checkPlan checks the rules that every plan of kind Sizes must keep.
func checkPlan(t testing.TB, p *corev1.Pod, s *Snapshot, plan *Plan) {
	t.Helper()
	if plan.differs() != (plan.Decision == Resize) {
		t.Errorf("decision %v, differs %v", plan.Decision, plan.differs())
	}
	if plan.Decision != Resize && len(plan.Reasons) == 0 {
		t.Errorf("decision %v without a reason", plan.Decision)
	}
	bounds := s.Table.Profile(s.Pod).Bounds
	for i := range plan.Containers {
		c := &plan.Containers[i]
		checkAmount(t, c.Name+" cpu", c.Current.CPU, c.Desired.CPU, bounds.CPU, 1e12)
		checkAmount(t, c.Name+" memory", c.Current.Memory, c.Desired.Memory, bounds.Memory, 1<<60)
	}
	if plan.Decision == Resize {
		checkPatch(t, p, plan)
	}
}

func checkAmount(t testing.TB, what string, now, to sizing.Amount, bounds sizing.Range, most int64) {
	t.Helper()
	switch {
	case (to.Request == 0) != (now.Request == 0) || (to.Limit == 0) != (now.Limit == 0):
		t.Errorf("%s: %v becomes %v: a request or limit is added or removed", what, now, to)
	case to.Request != now.Request && (to.Request < max(1, bounds.Min) || bounds.Max > 0 && to.Request > bounds.Max):
		t.Errorf("%s: %v becomes %v: out of bounds %v", what, now, to, bounds)
	case to != now && to.Limit != 0 && to.Limit < to.Request:
		t.Errorf("%s: %v becomes %v: the limit is below the request", what, now, to)
	case to.Request < 0 || to.Limit < 0 || to.Request > most || to.Limit > most:
		t.Errorf("%s: %v becomes %v: more than any machine has", what, now, to)
	}
}

// checkPatch checks the patch of a resize against the API server's rules.
func checkPatch(t testing.TB, p *corev1.Pod, plan *Plan) {
	t.Helper()
	patch := plan.Patch(resizing(plan), plan.ResourceVersion)
	after := patched(t, p, patch)
	if was, is := classOf(p), classOf(after); was != is {
		t.Errorf("the QoS class is %s and becomes %s", was, is)
	}
	for i := range plan.Containers {
		c := &plan.Containers[i]
		to := containerOf(after, c.Name)
		if got := sizing.FromResources(to.Resources); got != c.Desired {
			t.Errorf("%s: patched to %v, planned %v", c.Name, got, c.Desired)
		}
		// With the previous cpu and memory, the specs must be equal.
		from := containerOf(p, c.Name)
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			if was, ok := from.Resources.Requests[name]; ok {
				to.Resources.Requests[name] = was
			}
			if was, ok := from.Resources.Limits[name]; ok {
				to.Resources.Limits[name] = was
			}
		}
	}
	if !equality.Semantic.DeepEqual(after.Spec, p.Spec) || strings.Contains(string(patch), "annotations") {
		t.Errorf("the patch %s changes more than cpu and memory", patch)
	}
}

func containerOf(p *corev1.Pod, name string) *corev1.Container {
	for _, containers := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range containers {
			if containers[i].Name == name {
				return &containers[i]
			}
		}
	}
	return nil
}

// journey is a pod that is planned on one node after another, each with its own table.
type journey struct {
	testing.TB
	planner      Planner
	created, now *corev1.Pod
	seconds      int
}

func (j *journey) plan(p *corev1.Pod, table *ratios.Table, nodeType string) *Plan {
	s := &Snapshot{Pod: pod.From(p), Table: table, Around: safety.Surroundings{Room: node.Room{Node: podtest.Node(nodeType)}}}
	plan := j.planner.Plan(s)
	checkPlan(j, p, s, plan)
	return plan
}

// step sizes the pod for a node. One plan is enough, and the previous node does not matter.
func (j *journey) step(table *ratios.Table, nodeType string) Decision {
	plan := j.plan(j.now, table, nodeType)
	fresh := j.plan(j.created, table, nodeType)
	// A memory limit that must not shrink depends on its previous value.
	if !j.planner.KeepMemoryLimits {
		j.compare(plan, fresh)
	}
	j.seconds += 10
	j.now = carriedOut(j, j.now, plan, j.seconds)
	again := j.plan(j.now, table, nodeType)
	if again.Pending() || plan.Decision != Skip && again.Decision != Align {
		j.Errorf("applied and planned again, it is %v because of %v: %s", again.Decision, again.Reasons, again.Describe())
	}
	return plan.Decision
}

// compare compares the plan of a pod that may have been sized before with the plan of the
// untouched pod.
func (j *journey) compare(plan, fresh *Plan) {
	j.Helper()
	// An untouched pod may be skipped because only restarts remain, while the sized pod is
	// not.
	held := fresh.Decision == Skip && fresh.Reasons[0].Code == contract.RestartRequired
	if (plan.Decision == Skip) != (fresh.Decision == Skip) && !held {
		j.Errorf("%v because of %v, untouched %v because of %v", plan.Decision, plan.Reasons, fresh.Decision, fresh.Reasons)
	}
	if plan.Decision == Skip {
		return
	}
	for i := range plan.Containers {
		if c, f := &plan.Containers[i], &fresh.Containers[i]; c.Desired != f.Desired || c.Original != f.Original {
			j.Errorf("%s: from %v to %v, untouched from %v to %v", c.Name, c.Original, c.Desired, f.Original, f.Desired)
		}
	}
}

// restore returns the pod to the sizes that it was created with.
func (j *journey) restore(table *ratios.Table, nodeType string) {
	s := &Snapshot{Pod: pod.From(j.now), Table: table, Around: safety.Surroundings{Room: node.Room{Node: podtest.Node(nodeType)}}, Restore: true}
	plan := j.planner.Plan(s)
	p := carriedOut(j, j.now, plan, j.seconds+10)
	if plan.Pending() && keepsRecord(plan) && slices.Contains(codes(plan), contract.ResizeInProgress) || !plan.Pending() && plan.Decision == Align { // The record stays until the node has lowered a memory limit.
		s.Pod = pod.From(p)
		plan = j.planner.Plan(s)
		p = carriedOut(j, p, plan, j.seconds+20)
	}
	if plan.withheld() {
		// Sizes that cannot be restored keep their originals for later.
		if len(p.Annotations) == 0 {
			j.Errorf("incomplete because of %v, and without originals", plan.Reasons)
		}
		return
	}
	if !equality.Semantic.DeepEqual(p.Spec, j.created.Spec) || len(p.Annotations) > 0 {
		j.Errorf("restored, it has %v and %v", p.Annotations, p.Spec.Containers)
	}
	if h := pod.From(p); h.AnybodyResized() {
		j.Errorf("restored, its history is %+v", h)
	}
}

func TestJourneysOfAnyPod(t *testing.T) {
	const seed1, seed2, pods = 7, 8, 500
	counts := map[Decision]int{}
	for i := range pods {
		a := arbitrary{rand.New(rand.NewPCG(seed1, seed2+uint64(i)))}
		p := a.pod()
		j := &journey{TB: t, created: p, now: p, planner: Planner{OwnerKinds: DefaultOwnerKinds, Sidecars: a.oneIn(2), KeepMemoryLimits: a.oneIn(4)}}
		for range 1 + a.IntN(4) {
			counts[j.step(a.table(t), a.nodeType())]++
		}
		j.restore(a.table(t), a.nodeType())
		if t.Failed() {
			before, _ := json.Marshal(p.Spec)
			t.Fatalf("seeds %d, %d, pod %s", seed1, seed2+uint64(i), before)
		}
	}
	// The test proves little if few pods are resized.
	if counts[Resize] < pods/2 || counts[Align] == 0 || counts[Skip] == 0 {
		t.Errorf("decisions %v", counts)
	}
	t.Logf("decisions %v", counts)
}

// actionsAt returns what a plan does to a pod at a time.
func actionsAt(p *Plan, now time.Time) []Action {
	var all []Action
	for _, a := range p.Actions() {
		all = append(all, a.At(now))
	}
	return all
}

// resizing returns the action of a plan that resizes the pod.
func resizing(p *Plan) Action {
	for _, a := range p.Actions() {
		if a.Step.Resizes() {
			return a
		}
	}
	return Action{Step: StepResize}
}

// recorded returns the annotations that the plan writes before the sizes change, or records on an aligned pod.
func recorded(p *Plan, now time.Time) map[string]*string {
	for _, a := range actionsAt(p, now) {
		if a.Step == StepOriginals || a.Step == StepRecord {
			return a.Annotations
		}
	}
	return nil
}

// keepsRecord reports whether the plan of a restore keeps what the pod records.
func keepsRecord(p *Plan) bool { return !p.does(StepClean) }

// lastOf returns what gave a resource its size.
func lastOf(p *Plan, container int, m *sizing.Measure) Derived {
	for i := len(p.Derivation) - 1; i >= 0; i-- {
		if derived := p.Derivation[i]; derived.Container == container && derived.Measure == m {
			return derived
		}
	}
	return Derived{}
}

// noted returns the node's answer that a plan records; empty if it records none.
func noted(p *Plan) string {
	for _, a := range p.Actions() {
		if value := a.Annotations[contract.Infeasible]; value != nil {
			return *value
		}
	}
	return ""
}

// othersSet reports whether a size stays because another actor set it or its original is unknown.
func othersSet(p *Plan) bool {
	return slices.ContainsFunc(p.Reasons, func(r Reason) bool {
		return r.Code == contract.ExternallyResized || r.Code == contract.InvalidAnnotation
	})
}
