package cluster

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// crowded returns a cluster with 30,000 pods of 200 workloads in a namespace. Each has a budget.
func crowded(b *testing.B) (*Cluster, []*policyv1.PodDisruptionBudget, []*pod.Pod) {
	b.Helper()
	var limits []*policyv1.PodDisruptionBudget
	for n := range 200 {
		limits = append(limits, limiting("shop", fmt.Sprint("checkout-", n), fmt.Sprint("checkout-", n), 1))
	}
	c := limited(b, limits)
	typical, pods := podtest.Typical(b), make([]*pod.Pod, 30000)
	for n := range pods {
		p := typical.DeepCopy()
		named("shop", fmt.Sprintf("checkout-66fb46dc94-%05x", n))(p)
		p.Labels["app"] = fmt.Sprint("checkout-", n%200)
		pods[n] = pod.From(p)
	}
	if err := c.Know(pods, nil); err != nil {
		b.Fatal(err)
	}
	return c, limits, pods
}

// BenchmarkBudgets measures the budgets of a pod among 30,000 pods with 200 budgets.
func BenchmarkBudgets(b *testing.B) {
	c, limits, pods := crowded(b)
	b.Run("of a pod", func(b *testing.B) {
		for b.Loop() {
			if found := budgetsOf(c, pods[17]); len(found) != 1 {
				b.Fatal(found)
			}
		}
	})
	b.Run("of each pod of a preview", func(b *testing.B) {
		around, n := c.Shared("shop"), 0
		for b.Loop() {
			if found := around.limits.Of(pods[n%len(pods)]); len(found) != 1 {
				b.Fatal(found)
			}
			n++
		}
	})
	b.Run("pods of a budget, for the first time", func(b *testing.B) {
		for b.Loop() {
			c.members = c.newMembers()
			if found := budgetsOf(c, pods[17])[0].Pods(); len(found) != 150 {
				b.Fatal(len(found))
			}
		}
	})
	b.Run("pods of a budget", func(b *testing.B) {
		limit := workload.BudgetOf(limits[17])
		for b.Loop() {
			if found := c.members.Of(limit); len(found) != 150 {
				b.Fatal(len(found))
			}
		}
	})
	everything := limiting("shop", "everything", "", 1)
	everything.Spec.Selector = &metav1.LabelSelector{}
	if err := c.budgets.Add(workload.BudgetOf(everything)); err != nil {
		b.Fatal(err)
	}
	b.Run("pods of a budget of all pods", func(b *testing.B) {
		limit := workload.BudgetOf(everything)
		for b.Loop() {
			if found := c.members.Of(limit); len(found) != len(pods) {
				b.Fatal(len(found))
			}
		}
	})
	for _, limit := range c.budgetsIn("shop") {
		c.members.Of(limit)
	}
	b.Run("a pod that changes, but not its labels", func(b *testing.B) {
		for b.Loop() {
			c.members.PodChanged(pods[17], pods[217])
		}
	})
	b.Run("a pod that is added", func(b *testing.B) {
		for b.Loop() {
			c.members.PodChanged(nil, pods[17])
		}
	})
}

// BenchmarkBudgetMemory measures the bytes of a budget, and of each pod whose budget is remembered.
func BenchmarkBudgetMemory(b *testing.B) {
	heap := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	for b.Loop() {
		c, _, pods := crowded(b)
		const count = 10000
		before := heap()
		for n := range count {
			// As decoded: no string shares memory with another one.
			o := limiting(fmt.Sprint("team-", n), fmt.Sprint("checkout-", n), fmt.Sprint("checkout-", n), 1)
			o.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl", FieldsV1: metav1.NewFieldsV1(strings.Repeat(" ", 500))}}
			o.Status.Conditions = []metav1.Condition{{Type: "DisruptionAllowed", Message: fmt.Sprint(n)}}
			if err := c.budgets.Add(workload.BudgetOf(o)); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric((heap()-before)/count, "B/budget")
		before = heap()
		for _, limit := range c.budgetsIn("shop") {
			c.members.Of(limit)
		}
		b.ReportMetric((heap()-before)/float64(len(pods)), "B/pod")
		runtime.KeepAlive(c)
	}
}
