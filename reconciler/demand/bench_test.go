package demand

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// all is a source that measures every pod.
type all struct {
	*fixture
	pods [][2]string
	// length is the length of a sample.
	length time.Duration
	// growing is how many of the workloads need more memory at each reading, others each time.
	growing, readings int
}

func (a *all) Name() string { return "all" }

func (a *all) Read(_ context.Context, _, until time.Time, observe func(usage.Sample)) error {
	a.readings++
	workloads := len(a.pods) / perWorkload
	for i, p := range a.pods {
		sample := usage.Sample{Namespace: p[0], Name: p[1], Container: "app"}
		sample.At, sample.Length, sample.Resource, sample.Usage = until, a.length, history.CPU, int64(100+(i*7+until.Minute()*13)%400)
		observe(sample)
		sample.Resource, sample.Usage = history.Memory, int64(200+i%300)<<20
		if (i/perWorkload+a.readings*a.growing)%workloads < a.growing {
			sample.Usage *= int64(2 + a.readings%3)
		}
		observe(sample)
	}
	return nil
}

// perWorkload is the number of pods of a workload.
const perWorkload = 20

// large returns demands of this many pods, 20 in each workload, on 200 nodes of four types. Each workload
// has a namespace, since all of them have the same name. applied means that pods are resized by their usage.
func large(b *testing.B, pods int, applied bool) (*fixture, *all) {
	b.Helper()
	types := []string{"n2d", "n4", "c3", "e2"}
	var nodes []*corev1.Node
	for i := range 200 {
		nodes = append(nodes, clustertest.Node(fmt.Sprint("node-", i), types[i%4], "64"))
	}
	layer := clustertest.Published()
	if applied {
		layer = following()
	}
	layer.Ratios["c3"], layer.Ratios["e2"] = ratios.Ratio{CPUPerf: 1.3, MemoryPerf: 1}, ratios.Ratio{CPUPerf: 0.8, MemoryPerf: 1}
	f := &fixture{leads: true}
	f.of = clustertest.Thousands(b, pods, pods/perWorkload, nodes...)
	f.of.Ratios = clustertest.Store(b, layer)
	source := &all{fixture: f, length: time.Minute}
	f.Demands = New(Config{
		Cluster: f.of, Ratios: f.of.Ratios, Planner: f.of.Planner, Leads: func() bool { return true }, Clock: clustertest.Clock(f.of),
		Usage: Usage{Sources: []Source{{Source: source, Interval: time.Minute}}},
	})
	for _, p := range f.of.Pods("").List() {
		source.pods = append(source.pods, [2]string{p.Namespace(), p.Name})
	}
	return f, source
}

// BenchmarkMinute measures what usage costs each minute: reading a sample of each pod, and publishing
// what all workloads need; with "applied", also which pods are planned again because of that. Workloads are either new, so
// that what is known of each of them changes every minute, or known for a day, and as many as given need more
// memory at each reading.
func BenchmarkMinute(b *testing.B) {
	for _, size := range []struct {
		pods    int
		applied bool
		// days is how long the workloads are known, and growing how many need more memory each time.
		days, growing int
	}{{1_000, false, 0, 0}, {15_000, false, 0, 0}, {150_000, false, 0, 0}, {150_000, true, 0, 0}, {150_000, false, 1, 75}, {150_000, true, 1, 75}} {
		name := fmt.Sprint(size.pods, " pods")
		if size.applied {
			name += " applied"
		}
		if size.days > 0 {
			name += fmt.Sprintf(" known for %d day, %d workloads grow", size.days, size.growing)
		}
		b.Run(name, func(b *testing.B) {
			before := podtest.HeapInUse()
			f, source := large(b, size.pods, size.applied)
			again := &changes{}
			f.of.Serve(again, func(types.NamespacedName, types.UID, time.Time) *plan.Refusal { return nil })
			empty := podtest.HeapInUse()
			var reading, publishing time.Duration
			minute := func() {
				clustertest.Clock(f.of).Step(source.length)
				begin := time.Now()
				f.readOnce(b.Context(), f.sources[0])
				reading += time.Since(begin)
				begin = time.Now()
				f.publish(b.Context())
				publishing += time.Since(begin)
			}
			source.length = time.Hour
			for range 24 * size.days {
				minute()
			}
			source.length, source.growing = time.Minute, size.growing
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

// BenchmarkSavings measures what it costs to add up what all pods save: once for metrics, and by workload for a caller.
// All containers use what the first one of their pod uses.
func BenchmarkSavings(b *testing.B) {
	for _, pods := range []int{15_000, 150_000} {
		f, _ := large(b, pods, false)
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
