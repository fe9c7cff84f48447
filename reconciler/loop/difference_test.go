package loop

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

func TestDifference(t *testing.T) {
	t.Run("compares requests with originals", comparesRequestsWithOriginals)
	t.Run("counts a skipped pod with its current size", countsASkippedPodWithItsCurrentSize)
	t.Run("updates the total when pods change or are deleted", updatesTheTotalWhenPodsChangeOrAreDeleted)
	t.Run("counts a partly resized pod", countsAPartlyResizedPod)
}

func comparesRequestsWithOriginals(t *testing.T) {
	container := func(originalCPU, cpu, originalMemory, memory int64) plan.ContainerPlan {
		var c plan.ContainerPlan
		c.Original = sizing.Container{CPU: sizing.Amount{Request: originalCPU}, Memory: sizing.Amount{Request: originalMemory}}
		c.Current = sizing.Container{CPU: sizing.Amount{Request: cpu}, Memory: sizing.Amount{Request: memory}}
		return c
	}
	aligned := func(containers ...plan.ContainerPlan) *plan.Plan {
		return &plan.Plan{Decision: plan.Align, Containers: containers}
	}
	running, ended := &corev1.Pod{}, &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodSucceeded}}
	for _, tc := range []struct {
		name string
		pod  *corev1.Pod
		plan *plan.Plan
		want difference
	}{
		{"as written", running, aligned(container(1000, 1000, 64, 64)), difference{}},
		{"less", running, aligned(container(1000, 800, 64, 60)), difference{less: node.Resources{CPU: 200, Memory: 4}}},
		{"more", running, aligned(container(1000, 1300, 64, 70)), difference{more: node.Resources{CPU: 300, Memory: 6}}},
		{"cpu less, memory more", running, aligned(container(1000, 800, 64, 70)), difference{less: node.Resources{CPU: 200}, more: node.Resources{Memory: 6}}},
		{"the sum of containers counts", running, aligned(container(1000, 800, 64, 64), container(100, 150, 64, 64)), difference{less: node.Resources{CPU: 150}}},
		{"a pending resize does not count", running, &plan.Plan{Decision: plan.Resize, Containers: []plan.ContainerPlan{container(1000, 1000, 64, 64)}}, difference{}},
		{"a finished pod requests nothing", ended, aligned(container(1000, 800, 64, 60)), difference{}},
		{"an unknown original does not count", running, aligned(container(0, 800, 0, 60)), difference{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := differenceOf(pod.From(tc.pod), tc.plan); got != tc.want {
				t.Errorf("%+v, want %+v", got, tc.want)
			}
		})
	}
}

func countsASkippedPodWithItsCurrentSize(t *testing.T) {
	p := podtest.Pod(podtest.Amounts{"800m", "", "1Gi", ""}, podtest.AsResized, podtest.Annotated(
		"applied-instance-type", "n4", "original-cpu.app", "1", "original-memory.app", "1Gi"))
	if got, want := differenceOf(pod.From(p), &plan.Plan{Decision: plan.Skip}), (difference{less: node.Resources{CPU: 200}}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func updatesTheTotalWhenPodsChangeOrAreDeleted(t *testing.T) {
	l := newLedger(testMetrics())
	note := func(name string, uid types.UID, cpu int64) {
		p := &plan.Plan{Subject: plan.Subject{Pod: types.NamespacedName{Name: name}, UID: uid}, Decision: plan.Align, Reasons: []plan.Reason{{}}}
		l.planned(p, cluster.Rules{}, difference{less: node.Resources{CPU: cpu}}, time.Time{})
	}
	total := func(step string, want int64) {
		t.Helper()
		if got := l.difference().less.CPU; got != want {
			t.Errorf("%s: %d, want %d", step, got, want)
		}
	}
	note("a", "1", 200)
	note("b", "1", 50)
	total("two pods", 250)
	note("a", "1", 300)
	total("one pod is resized again", 350)
	l.startOver()
	total("another replica led in the meantime", 350)
	note("a", "2", 10)
	total("the name belongs to another pod", 60)
	l.forget(types.NamespacedName{Name: "b"})
	total("a pod is deleted", 10)
}

func countsAPartlyResizedPod(t *testing.T) {
	p := podtest.Pod(podtest.Amounts{"500m", "", "1Gi", ""}, podtest.Annotated("original-cpu.app", "1", "original-memory.app", "1Gi"),
		podtest.ManagedBy(podtest.AsMade, podtest.ResizeBy(contract.FieldManager, 10, contract.CPURequest), podtest.Managed(contract.FieldManager, "", 10, contract.OriginalPrefix+"cpu.app", contract.OriginalPrefix+"memory.app")))
	n := podtest.Node("n4")
	n.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("64"), "memory": resource.MustParse("1100Mi")}
	next := (&plan.Planner{OwnerKinds: plan.DefaultOwnerKinds}).Plan(&plan.Snapshot{Pod: pod.From(p), Around: safety.Surroundings{Room: node.Room{Node: n}}, Table: clustertest.Store(t, &ratios.Layer{Baseline: "n2d", Ratios: map[string]ratios.Ratio{"n2d": {CPUPerf: 1, MemoryPerf: 1}, "n4": {CPUPerf: 2, MemoryPerf: 0.5}}}).Table()})
	if d := differenceOf(pod.From(p), next); query.ResizeOf(pod.From(p)) == nil || d.less.CPU != 500 {
		t.Errorf("the pod has %s: %+v, difference %+v", podtest.SizesOf(p), query.ResizeOf(pod.From(p)), d)
	}
}
