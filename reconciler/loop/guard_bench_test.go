package loop

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/signal"
)

// BenchmarkGuard measures a minute of a cluster with 150,000 sized pods of two containers, 2% of which were
// resized in the last five minutes. On means that their resizes are observed; off, that they are not recorded
// either. The target is that on takes at most 0.05 cores and 20 MiB more than off.
//
// Every pod has an event each ten minutes, and the node reports each resize in three more. At the end of its
// time, an observed resize is judged for the last time. Usage is sampled once a minute, per container and resource.
func BenchmarkGuard(b *testing.B) {
	for _, on := range []bool{true, false} {
		name := map[bool]string{true: "on", false: "off"}[on]
		b.Run(name, func(b *testing.B) {
			const pods, observedIn = 150_000, 50
			before := podtest.HeapInUse()
			l, observed := guarded(b, on, pods, observedIn)
			all := l.Cluster.Pods("").List()
			signals, settings := signal.New(), &policy.Guard{Enabled: true, Window: 5 * time.Minute}
			if on {
				l.Cluster.Hear(func(of *pod.Pod) guard.Signals {
					return guard.Signals{Of: func(container string) guard.Fared { return signals.Of(of, container) }}
				}, nil)
			}
			clock := clustertest.Clock(l.Cluster)
			sample := func() {
				strain := guard.Strain{Throttled: guard.Of(0.1), CPUPressure: guard.Of(0.1), MemoryPressure: guard.Of(0.1), Memory: guard.Of(1 << 20), LimitEvents: guard.Of(0)}
				for _, of := range all {
					for i := range of.Containers {
						for range 2 {
							signals.Take(of, of.Containers[i].Name(), &signal.Sample{At: clock.Now(), Length: time.Minute, Strain: strain}, settings, clock.Now())
						}
					}
				}
			}
			for _, of := range all {
				l.process(b.Context(), of.NamespacedName())
			}
			if on {
				sample()
			}
			heap := podtest.HeapInUse() - before
			next := 0
			visit := func(of []types.NamespacedName, times int) {
				for range times {
					l.process(b.Context(), of[next%len(of)])
					next++
				}
			}
			names := make([]types.NamespacedName, len(all))
			for i, of := range all {
				names[i] = of.NamespacedName()
			}
			resizes := len(observed) / 5
			b.ResetTimer()
			used := podtest.CPUTime(b)
			for b.Loop() {
				visit(names, len(names)/10)
				visit(observed, 3*resizes)
				if on {
					visit(observed, resizes)
					sample()
				}
			}
			b.ReportMetric((podtest.CPUTime(b)-used).Minutes()/float64(b.N), "cores")
			b.ReportMetric(heap/(1<<20), "MiB")
			if _, n := signals.Len(); on && n != 2*len(observed) {
				b.Errorf("%d containers are observed", n)
			}
			runtime.KeepAlive(all)
		})
	}
}

// guarded returns a loop over so many sized pods, one in so many of which were resized lately, and the names of
// these.
func guarded(b *testing.B, on bool, pods, observedIn int) (*Loop, []types.NamespacedName) {
	b.Helper()
	nodes := make([]*corev1.Node, 200)
	for i := range nodes {
		nodes[i] = clustertest.Node(fmt.Sprint("node-", i), "n4", "64000")
	}
	var observed []types.NamespacedName
	all := clustertest.Many(b, pods, 200)
	sizes := []podtest.Amounts{{"800m", "1600m", "1Gi", "2Gi"}, {"200m", "400m", "128Mi", "256Mi"}}
	for i, p := range all {
		for n, size := range sizes {
			c, status := &p.Spec.Containers[n], &p.Status.ContainerStatuses[n]
			c.Resources = size.Requirements()
			status.AllocatedResources, status.Resources = c.Resources.Requests, &c.Resources
		}
		if i%observedIn == 0 {
			p.ManagedFields[slices.IndexFunc(p.ManagedFields, func(m metav1.ManagedFieldsEntry) bool { return m.Subresource == contract.ResizeSubresource })].Time = &metav1.Time{Time: podtest.At(6000)}
			observed = append(observed, types.NamespacedName{Namespace: p.Namespace, Name: p.Name})
		}
		if !on {
			delete(p.Annotations, contract.AppliedSizes)
		}
	}
	layer := clustertest.Published()
	layer.Settings = keys.Some(policy.Settings{Bounds: layer.Settings.Values.Bounds, Guard: policy.Guard{Enabled: on}}, "guard.enabled")
	c := clustertest.Of(b, all, nodes)
	c.Ratios = clustertest.Store(b, layer)
	clustertest.Clock(c).SetTime(podtest.At(6060))
	return over(b, c, "https://127.0.0.1:1"), observed
}
