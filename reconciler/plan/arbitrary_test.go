package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// arbitrary makes random pods and ratios; the same seed gives the same ones.
type arbitrary struct{ *rand.Rand }

func (a arbitrary) oneIn(n int) bool { return a.IntN(n) == 0 }

// upTo returns a number from 1 to most; short numbers are as frequent as long ones.
func (a arbitrary) upTo(most int64) int64 { return 1 + a.Int64N(most)>>a.IntN(60) }

// nodeTypes are the node types of every table.
var nodeTypes = []string{"n2d", "n4", "big", "slow"}

func (a arbitrary) nodeType() string { return nodeTypes[a.IntN(len(nodeTypes))] }

// table returns a table with arbitrary ratios and bounds, and sometimes with a rule for pods
// with the label env=test.
func (a arbitrary) table(t testing.TB) *ratios.Table {
	t.Helper()
	layer := &ratios.Layer{Baseline: a.nodeType(), Ratios: a.ratios(), Settings: keys.Some(policy.Settings{Bounds: policy.Bounds{CPU: a.bounds(1e6), Memory: a.bounds(1 << 40)}})}
	if !a.oneIn(4) { // Most ratios must be used.
		layer.MaxSpeedRatio = math.MaxFloat64
	}
	if a.oneIn(3) {
		layer.Rules = []ratios.Rule{{
			Name: "test", Match: policy.Criteria{Labels: map[string]string{"env": "test"}}, Baseline: a.nodeType(), Ratios: a.ratios(),
			Settings: keys.Some(policy.Settings{}, "bounds.cpu.min", "bounds.memory.max"),
		}}
	}
	table, err := ratios.Merge([]*ratios.Layer{layer})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func (a arbitrary) ratios() map[string]ratios.Ratio {
	all := map[string]ratios.Ratio{}
	for _, name := range nodeTypes {
		all[name] = ratios.Ratio{CPUPerf: a.performance(), MemoryPerf: a.performance()}
	}
	return all
}

func (a arbitrary) performance() float64 {
	switch a.IntN(8) {
	case 0:
		return math.Pow(10, float64(a.IntN(600)-300))
	case 1, 2:
		return math.Exp(a.Float64()*12 - 6)
	}
	return []float64{0.5, 0.8, 1, 1, 1, 1.1, 1.25, 1.3, 2}[a.IntN(9)]
}

func (a arbitrary) bounds(most int64) sizing.Range {
	var r sizing.Range
	if a.oneIn(2) {
		r.Min = a.upTo(most)
	}
	if a.oneIn(2) {
		r.Max = max(r.Min, a.upTo(most))
	}
	return r
}

// pod returns a pod that was never resized, as the API server stores it.
func (a arbitrary) pod() *corev1.Pod {
	p := podtest.Pod(podtest.Amounts{}, podtest.AsCreated)
	class := a.QOSClass()
	p.Spec.Containers = a.containers(class, "app", 1+a.IntN(4))
	p.Spec.InitContainers = a.containers(class, "init", a.IntN(3))
	for i := range p.Spec.InitContainers {
		if always := corev1.ContainerRestartPolicyAlways; a.oneIn(2) {
			p.Spec.InitContainers[i].RestartPolicy = &always
		}
	}
	if a.oneIn(4) {
		p.Spec.Overhead = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m"), corev1.ResourceMemory: resource.MustParse("120Mi")}
	}
	if a.oneIn(2) {
		p.Labels = map[string]string{"env": "test"}
	}
	p.Status.QOSClass = classOf(p)
	return p
}

// QOSClass returns a class; usually the class with the most kinds of resizes.
func (a arbitrary) QOSClass() corev1.PodQOSClass {
	switch a.IntN(8) {
	case 0:
		return corev1.PodQOSBestEffort
	case 1, 2, 3:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

func (a arbitrary) containers(class corev1.PodQOSClass, name string, n int) []corev1.Container {
	var all []corev1.Container
	for i := range n {
		c := corev1.Container{Name: fmt.Sprint(name, i), Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}}
		a.amount(class, c.Resources, corev1.ResourceCPU, 1e12, func(v int64) resource.Quantity { return *resource.NewMilliQuantity(v, resource.DecimalSI) })
		a.amount(class, c.Resources, corev1.ResourceMemory, 1<<60, func(v int64) resource.Quantity {
			if a.oneIn(2) {
				v = (v + 1<<20 - 1) >> 20 << 20
			}
			return *resource.NewQuantity(v, resource.BinarySI)
		})
		for _, other := range []corev1.ResourceName{"nvidia.com/gpu", "hugepages-2Mi"} {
			if a.oneIn(6) {
				c.Resources.Requests[other] = resource.MustParse("2Mi")
				c.Resources.Limits[other] = resource.MustParse("2Mi")
			}
		}
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			if a.oneIn(4) {
				policy := []corev1.ResourceResizeRestartPolicy{corev1.NotRequired, corev1.NotRequired, corev1.RestartContainer}[a.IntN(3)]
				c.ResizePolicy = append(c.ResizePolicy, corev1.ContainerResizePolicy{ResourceName: name, RestartPolicy: policy})
			}
		}
		all = append(all, c)
	}
	return all
}

// amount sets a request, a limit, both or neither for a container of a pod of the class.
func (a arbitrary) amount(class corev1.PodQOSClass, r corev1.ResourceRequirements, name corev1.ResourceName, most int64, quantity func(int64) resource.Quantity) {
	small := a.upTo(most)
	if a.oneIn(2) { // Like most real amounts.
		small = a.upTo(most / 1e6)
	}
	switch {
	case class == corev1.PodQOSBestEffort:
	case class == corev1.PodQOSGuaranteed || a.oneIn(4):
		r.Requests[name] = quantity(small)
		r.Limits[name] = r.Requests[name].DeepCopy()
	case a.oneIn(4):
		r.Requests[name] = quantity(small)
	case a.oneIn(8):
		r.Limits[name] = quantity(small)
	case a.oneIn(8):
		r.Requests[name] = resource.MustParse("0")
	case a.oneIn(2):
		r.Requests[name] = quantity(small)
		limit := quantity(max(small, a.upTo(most)))
		if request := r.Requests[name]; limit.Cmp(request) < 0 {
			limit = request.DeepCopy()
		}
		r.Limits[name] = limit
	}
}

// histories are possible managedFields of a pod with annotations.
var histories = []struct {
	name string
	by   func(*corev1.Pod)
}{
	{"never resized", podtest.AsCreated},
	{"resized by us", podtest.AsResized},
	{"resized by another", podtest.ManagedBy(podtest.AsMade, podtest.Managed("they", contract.ResizeSubresource, 10))},
	{"resized by another after us", func(p *corev1.Pod) {
		podtest.AsResized(p)
		podtest.ManagedBy(podtest.Managed("they", contract.ResizeSubresource, 20))(p)
	}},
	{"resized by us, then a stranger wrote originals", func(p *corev1.Pod) {
		podtest.AsResized(p)
		podtest.ManagedBy(podtest.Managed("stranger", "", 20, contract.OriginalPrefix+"cpu.app"))(p)
	}},
	{"no managedFields", func(*corev1.Pod) {}},
}

const (
	unresized = 0
	forged    = 4
)

// shapes are current sizes of the pod.
var shapes = []podtest.Amounts{podtest.Guaranteed, {"500m", "2", "256Mi", "512Mi"}, {"1", "", "1Gi", ""}, {"1m", "1G", "1", "64Gi"}, {"800m", "", "", "2Gi"}, {"500m", "600m", "", ""}}

func FuzzAnnotations(f *testing.F) {
	for history := range uint8(len(histories)) {
		f.Add("1", "1", "1Gi", "1Gi", "n4", "2026-11-21T00:00:00Z", "", history, uint8(0), uint8(0))
		f.Add("2", "4", "64Mi", "2Gi", "big", "yesterday", "false", history, uint8(1), uint8(1))
		f.Add("1m", "1000000000", "1", "1Ei", "", "", "True", history, uint8(2), uint8(2))
		f.Add("1e99999999", "-1", "\x00", strings.Repeat("9", 4000), "n4", "", "", history, uint8(3), uint8(0))
		f.Add("1", "1", "", "", "n4", "", "true", history, uint8(0), uint8(0))
		f.Add("2", "2", "1Gi", "much", "n2d", "", "", history, uint8(0), uint8(0))
		f.Add("", "1", "", "1Gi", "", "", "", history, uint8(4), uint8(1))
		f.Add("500m", "", "2Gi", "", "slow", "", "", history, uint8(0), uint8(2))
		f.Add("1", "", "", "", "big", "", "", history, uint8(5), uint8(0))
	}
	f.Fuzz(func(t *testing.T, cpu, cpuLimit, memory, memoryLimit, applied, appliedAt, skip string, history, shape, external uint8) {
		sized := shapes[int(shape)%len(shapes)]
		which := int(history) % len(histories)
		bare := podtest.Pod(sized, histories[which].by)
		bare.Status.QOSClass = classOf(bare)
		p := bare.DeepCopy()
		for key, value := range map[string]string{
			"original-cpu.app": cpu, "original-cpu-limit.app": cpuLimit, "original-memory.app": memory, "original-memory-limit.app": memoryLimit,
			"applied-instance-type": applied, "applied-at": appliedAt, "skip": skip,
		} {
			if value != "" {
				podtest.Annotated(key, value)(p)
			}
		}
		planner := Planner{OwnerKinds: DefaultOwnerKinds, External: Externals[int(external)%len(Externals)]}
		for _, nodeType := range []string{"n2d", "big", "slow"} {
			s := snapshotOf(t, p, podtest.Node(nodeType))
			plan := planner.Plan(s)
			checkPlan(t, p, s, plan)
			switch {
			case skip != "" && skip != contract.SkipFalse:
				if plan.Decision != Skip {
					t.Errorf("opted out, but %v", plan.Decision)
				}
			case which == unresized:
				want := planner.Plan(snapshotOf(t, bare, podtest.Node(nodeType)))
				if plan.Decision != want.Decision || plan.Containers[0].Original != want.Containers[0].Original || plan.Containers[0].Desired != want.Containers[0].Desired {
					t.Errorf("%v to %v because of %v, without annotations %v to %v", plan.Decision, plan.Containers[0].Desired, plan.Reasons, want.Decision, want.Containers[0].Desired)
				}
			case which == forged && cpu != "":
				c := &plan.Containers[0]
				if c.Desired.CPU != c.Current.CPU || recorded(plan, podtest.At(10))[contract.CPURequest.Key(c.Name)] != nil {
					t.Errorf("%v to %v because of %v", plan.Decision, c.Desired, plan.Reasons)
				}
			}
			for _, reason := range plan.Reasons {
				if len(reason.Message) > 1000 {
					t.Errorf("a reason of %d bytes", len(reason.Message))
				}
			}
			checkDone(t, &planner, p, s, plan)
			s.Restore = true
			if restored := planner.Plan(s); restored.Decision == Resize {
				checkPatch(t, p, restored)
			}
		}
	})
}

// checkDone checks that an applied plan leaves nothing to do, and no annotation that
// contradicts the spec.
func checkDone(t testing.TB, planner *Planner, p *corev1.Pod, s *Snapshot, plan *Plan) {
	t.Helper()
	if plan.Decision == Skip {
		return
	}
	done := *s
	done.Pod = pod.From(carriedOut(t, p, plan, 30))
	again := planner.Plan(&done)
	left := again.Decision == Skip && (othersSet(plan) || plan.Partial != "" && again.Reasons[0].Code == plan.Partial)
	if again.Decision != Align && !left || again.Pending() || slices.Contains(codes(again), contract.AnnotationIgnored) {
		t.Errorf("%v; applied and planned again, it is %v because of %v: %s", plan.Decision, again.Decision, again.Reasons, again.Describe())
	}
}

// FuzzSpec tests quantities that a spec may contain, and some that the API server would have
// rejected.
func FuzzSpec(f *testing.F) {
	for _, seed := range []podtest.Amounts{podtest.Guaranteed, {"1m", "1G", "1", "8Ei"}, {"0", "1", "0", "1Gi"}, {"-1", "-5", "-1Gi", "-1"},
		{"1n", "1u", "100m", "1500m"}, {"1e30", "1e40", "1e30", "1e40"}, {"1Ki", "1Mi", "1e3", "1E"}, {"2E", "3E", "2Ei", "3Ei"}} {
		f.Add(seed[0], seed[1], seed[2], seed[3], true)
	}
	f.Fuzz(func(t *testing.T, cpu, cpuLimit, memory, memoryLimit string, recorded bool) {
		sized := podtest.Amounts{cpu, cpuLimit, memory, memoryLimit}
		for i, text := range sized {
			// The API server would have to parse it first.
			if len(text) > 30 || strings.ContainsAny(text, "eE") && len(text) > 6 {
				return
			}
			if _, err := resource.ParseQuantity(text); err != nil {
				sized[i] = ""
			}
		}
		if c := sized.Container(); c.CPU.Limit > 0 && c.CPU.Limit < c.CPU.Request || c.Memory.Limit > 0 && c.Memory.Limit < c.Memory.Request {
			return // The API server rejects it, and we rely on that.
		}
		p := podtest.Pod(sized, podtest.AsCreated)
		if recorded {
			p = podtest.Pod(sized, podtest.AsResized, podtest.Annotated("original-cpu.app", "1", "original-cpu-limit.app", "1", "original-memory.app", "1Gi", "original-memory-limit.app", "2Gi"))
		}
		p.Status.QOSClass = classOf(p)
		for _, keep := range []bool{false, true} {
			planner := Planner{OwnerKinds: DefaultOwnerKinds, KeepMemoryLimits: keep}
			for _, nodeType := range []string{"n2d", "big", "slow"} {
				s := snapshotOf(t, p, podtest.Node(nodeType))
				plan := planner.Plan(s)
				checkPlan(t, p, s, plan)
				checkDone(t, &planner, p, s, plan)
			}
		}
	})
}
