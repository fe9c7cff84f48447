package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
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
