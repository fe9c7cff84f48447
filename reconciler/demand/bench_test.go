package demand

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/vpa"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// all is a source that measures every pod.
type all struct {
	*fixture
	pods [][2]string
}

func (a *all) Name() string { return "all" }

func (a *all) Read(_ context.Context, _, until time.Time, observe func(usage.Sample)) error {
	for i, p := range a.pods {
		sample := usage.Sample{Namespace: p[0], Name: p[1], Container: "app"}
		sample.At, sample.Length, sample.Resource, sample.Usage = until, time.Minute, history.CPU, int64(100+(i*7+until.Minute()*13)%400)
		observe(sample)
		sample.Resource, sample.Usage = history.Memory, int64(200+i%300)<<20
		observe(sample)
	}
	return nil
}

// large returns demands of this many pods, 20 in each workload, 30 on each node, of four types. Each workload
// has a namespace, since all of them have the same name. applied means that pods are resized by their usage.
func large(b *testing.B, pods int, applied bool) *fixture {
	b.Helper()
	types := []string{"n2d", "n4", "c3", "e2"}
	var nodes []*corev1.Node
	for i := range max(200, pods/30) {
		nodes = append(nodes, clustertest.Node(fmt.Sprint("node-", i), types[i%4], "64"))
	}
	layer := clustertest.Published()
	if applied {
		layer = following()
	}
	layer.Ratios["c3"], layer.Ratios["e2"] = ratios.Ratio{CPUPerf: 1.3, MemoryPerf: 1}, ratios.Ratio{CPUPerf: 0.8, MemoryPerf: 1}
	f := &fixture{leads: true}
	f.of = clustertest.Thousands(b, pods, pods/20, nodes...)
	f.of.Ratios = clustertest.Store(b, layer)
	source := &all{fixture: f}
	f.Demands = New(Config{
		Cluster: f.of, Ratios: f.of.Ratios, Planner: f.of.Planner, Leads: func() bool { return true }, Clock: clustertest.Clock(f.of),
		Usage: Usage{Sources: []Source{{Source: source, Interval: time.Minute}}},
	})
	for _, p := range f.of.Pods("").List() {
		source.pods = append(source.pods, [2]string{p.Namespace(), p.Name})
	}
	return f
}

// BenchmarkMinute measures what usage costs each minute: reading a sample of each pod, and publishing
// what all workloads need; with "applied", also which pods are planned again because of that.
func BenchmarkMinute(b *testing.B) {
	for _, size := range []struct {
		pods    int
		applied bool
	}{{1_000, false}, {15_000, false}, {150_000, false}, {150_000, true}} {
		pods, name := size.pods, fmt.Sprint(size.pods, " pods")
		if size.applied {
			name += " applied"
		}
		b.Run(name, func(b *testing.B) {
			before := podtest.HeapInUse()
			f, again := large(b, pods, size.applied), &changes{}
			f.of.Serve(again, func(types.NamespacedName, types.UID, time.Time) *plan.Refusal { return nil })
			empty := podtest.HeapInUse()
			var reading, publishing time.Duration
			minute := func() {
				clustertest.Clock(f.of).Step(time.Minute)
				begin := time.Now()
				f.readOnce(b.Context(), f.sources[0])
				reading += time.Since(begin)
				begin = time.Now()
				f.publish(b.Context())
				publishing += time.Since(begin)
			}
			for range 5 {
				minute()
			}
			reading, publishing, again.pods = 0, 0, nil
			for b.Loop() {
				minute()
			}
			b.ReportMetric(reading.Seconds()/float64(b.N), "s/reading")
			b.ReportMetric(publishing.Seconds()/float64(b.N), "s/publishing")
			b.ReportMetric(float64(len(again.pods))/float64(b.N), "pods-planned-again")
			b.ReportMetric((empty-before)/(1<<20), "MiB-pods")
			b.ReportMetric((podtest.HeapInUse()-empty)/(1<<20), "MiB-usage")
			if s := f.Sources()[0]; s.Counted == 0 || s.Rejected > 0 {
				b.Errorf("%+v", s)
			}
		})
	}
}

// BenchmarkShares measures what it costs each minute to know what the pods of each node share.
func BenchmarkShares(b *testing.B) {
	f := large(b, 150_000, true)
	f.Ratios = clustertest.Store(b, sharingAll(policy.Apply))
	f.of.Ratios = f.Ratios
	f.of.Hear(f.Signals, f.NeedsOf)
	f.of.Serve(&changes{}, func(types.NamespacedName, types.UID, time.Time) *plan.Refusal { return nil })
	for range 5 {
		clustertest.Clock(f.of).Step(time.Minute)
		f.readOnce(b.Context(), f.sources[0])
		f.publish(b.Context())
	}
	for b.Loop() {
		f.Demands.share(f.survey.Load())
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/60, "cores")
	if share := f.neighbors.Of("node-4999"); share == nil || share.Rests[0] == 0 {
		b.Errorf("%+v", share)
	}
}

// BenchmarkSavings measures what it costs to add up what all pods save: once for metrics, and by workload for a caller.
// All containers use what the first one of their pod uses.
func BenchmarkSavings(b *testing.B) {
	for _, pods := range []int{15_000, 150_000} {
		f := large(b, pods, false)
		for range 2 {
			clustertest.Clock(f.of).Step(time.Minute)
			f.readOnce(b.Context(), f.sources[0])
			f.publish(b.Context())
		}
		table, demands := f.Ratios.Table(), f.Table()
		need := func(key usage.Key) (recommend.Recommendation, bool) {
			key.Name = "app"
			return demands.Demand(key)
		}
		b.Run(fmt.Sprint(pods, " pods, in total"), func(b *testing.B) {
			b.ReportAllocs()
			begin := podtest.CPUTime(b)
			for b.Loop() {
				f.addUp(f.survey.Load(), need)
			}
			b.ReportMetric((podtest.CPUTime(b)-begin).Seconds()/float64(b.N), "cpu-s/op")
			if total := f.account.Load(); total.Pods != pods || total.Unknown > 0 {
				b.Errorf("%+v", total)
			}
		})
		b.Run(fmt.Sprint(pods, " pods, by workload"), func(b *testing.B) {
			b.ReportAllocs()
			everything := Selection{}
			begin := podtest.CPUTime(b)
			for b.Loop() {
				n := 0
				for _, namespace := range f.of.Pods("").Namespaces() {
					for _, saver := range f.savers(namespace, &everything, everything.chosen(), table, need) {
						n += saver.Pods - saver.Unknown
					}
				}
				if n != pods {
					b.Errorf("%d pods", n)
				}
			}
			b.ReportMetric((podtest.CPUTime(b)-begin).Seconds()/float64(b.N), "cpu-s/op")
		})
	}
}

// BenchmarkHarms measures what a kill costs next to 7,500 workloads.
func BenchmarkHarms(b *testing.B) {
	f := large(b, 150_000, true)
	f.of.Serve(&changes{}, func(types.NamespacedName, types.UID, time.Time) *plan.Refusal { return nil })
	for range 2 {
		clustertest.Clock(f.of).Step(time.Minute)
		f.readOnce(b.Context(), f.sources[0])
		f.publish(b.Context())
	}
	of := f.of.Pods("").List()[0]
	killed := of.Replayed(0, of.Containers[0].Spec, []pod.Kill{{Container: "app", At: f.Clock.Now()}})
	before := f.Table()
	b.ReportAllocs()
	begin := podtest.CPUTime(b)
	for b.Loop() {
		f.harms.note(nil, killed)
		f.publishHarms(b.Context())
	}
	b.ReportMetric((podtest.CPUTime(b)-begin).Seconds()/float64(b.N), "cpu-s/op")
	if f.Table() == before || f.Table().Len() != before.Len() {
		b.Errorf("%d recommendations, before %d", f.Table().Len(), before.Len())
	}
}

// BenchmarkPolicies measures a publication with the VerticalPodAutoscalers of a tenant, and what their statuses should say.
// A change to any of them is followed by a publication within seconds.
func BenchmarkPolicies(b *testing.B) {
	for _, tc := range []struct {
		name          string
		objects, pods int
		target        func(i int) string
		owner         func(i int) string
	}{
		{"none", 0, 2000, nil, func(int) string { return "web" }},
		{"5,000 for one of 1,000 Deployments each", 5000, 2000, func(i int) string { return fmt.Sprint("web-", i%1000) }, func(i int) string { return fmt.Sprint("web-", i%1000) }},
		{"5,000 for the same Deployment", 5000, 2000, func(int) string { return "web" }, func(int) string { return "web" }},
	} {
		b.Run(tc.name, func(b *testing.B) {
			f := &fixture{leads: true}
			var pods []*corev1.Pod
			for i := range tc.pods {
				pods = append(pods, podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, clustertest.Named("shop", fmt.Sprint("pod-", i), "a"), func(p *corev1.Pod) {
					p.OwnerReferences[0].Name, p.CreationTimestamp = tc.owner(i)+"-1", metav1.NewTime(podtest.Start.Add(-24*time.Hour))
					p.Labels = map[string]string{"pod-template-hash": "1"}
				}))
			}
			f.of = clustertest.Of(b, pods, []*corev1.Node{clustertest.Node("a", "n2d", "64")})
			f.Demands = New(Config{
				Cluster: f.of, Ratios: f.of.Ratios, Planner: f.of.Planner, Leads: func() bool { return true }, Clock: clustertest.Clock(f.of),
				Usage: Usage{Sources: []Source{{Source: &steady{}, Interval: time.Minute}}},
			})
			before := podtest.HeapInUse()
			for i := range tc.objects {
				object := map[string]any{
					"metadata": map[string]any{"namespace": "shop", "name": fmt.Sprint("vpa-", i), "annotations": map[string]any{"workload-resizer.io/mode": "apply"}},
					"spec": map[string]any{
						"targetRef": map[string]any{"kind": "Deployment", "name": tc.target(i)}, "recommenders": []any{map[string]any{"name": "workload-resizer"}},
						"updatePolicy": map[string]any{"updateMode": "Off"},
					},
				}
				if err := f.of.KnowPolicy(vpa.From(&unstructured.Unstructured{Object: object})); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				f.publish(b.Context())
				f.Statuses()
			}
			b.ReportMetric((podtest.HeapInUse()-before)/(1<<20), "MiB")
			runtime.KeepAlive(f)
		})
	}
}

// BenchmarkSignal measures one sample. In a minute, 300,000 arrive of 150,000 containers.
func BenchmarkSignal(b *testing.B) {
	c := clustertest.Thousands(b, 30_000, 50)
	c.Ratios = clustertest.Store(b, ruled())
	d := New(Config{Cluster: c, Ratios: c.Ratios, Planner: c.Planner, Leads: func() bool { return true }, Clock: clustertest.Clock(c)})
	var samples []usage.Sample
	for _, p := range c.Pods("").List() {
		s := usage.Sample{Namespace: p.Namespace(), Name: p.Name, Container: p.Containers[0].Name()}
		s.UID, s.At, s.Length, s.Resource, s.Usage = string(p.UID), podtest.Start, time.Minute, history.Memory, 1<<30
		samples = append(samples, s)
	}
	for i := 0; b.Loop(); i++ {
		s := &samples[i%len(samples)]
		d.signal(d.podOf(s), s)
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*300_000/60, "cores")
}
