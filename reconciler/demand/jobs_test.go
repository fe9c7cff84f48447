package demand

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// latest is a source that measures the newest pod of a Job.
type latest struct{ pod *pod.Pod }

func (l *latest) Name() string { return "latest" }

func (l *latest) Read(_ context.Context, _, until time.Time, observe func(usage.Sample)) error {
	sample := usage.Sample{Namespace: l.pod.Namespace(), Name: l.pod.Name, Container: "app"}
	sample.At, sample.Length, sample.Resource, sample.Usage = until, 30*time.Second, history.CPU, 300+int64(until.Minute())
	observe(sample)
	sample.Resource, sample.Usage = history.Memory, int64(100+until.Minute())<<20
	observe(sample)
	return nil
}

// jobPod returns a pod of a Job without an owner that a script creates each minute.
func jobPod(n int, node string, at time.Time, phase corev1.PodPhase) *pod.Pod {
	name := fmt.Sprintf("report-%d", n)
	return pod.From(podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, clustertest.Named("shop", name+"-x", node), func(p *corev1.Pod) {
		p.OwnerReferences[0].Kind, p.OwnerReferences[0].Name = "Job", name
		p.Labels = map[string]string{DefaultJobLabel: "report", "job-name": name}
		p.CreationTimestamp, p.Status.Phase = metav1.NewTime(at), phase
	}))
}

// tickless is a clock whose tickers never tick. Those of a FakeClock stay in it after they are stopped.
type tickless struct{ *testingclock.FakeClock }

func (tickless) NewTicker(time.Duration) clock.Ticker { return never{} }

type never struct{}

func (never) C() <-chan time.Time { return nil }
func (never) Stop()               {}

func TestJobs(t *testing.T) {
	t.Run("that run every minute for a week have one key, and need no more memory", func(t *testing.T) {
		source := &latest{}
		f := newFixture(t, clustertest.Published())
		f.of = clustertest.Of(t, nil, f.of.Nodes())
		f.of.Ratios = f.Ratios
		f.Demands = New(Config{
			Cluster: f.of, Ratios: f.Ratios, Planner: f.of.Planner, Leads: func() bool { return true }, Clock: tickless{clustertest.Clock(f.of)},
			Usage: Usage{Sources: []Source{{Source: source, Interval: time.Minute}}},
		})
		const day, kept = 24 * 60, 3
		var pods []*pod.Pod
		heaps := make([]float64, 0, 7)
		for minute := range 7 * day {
			clustertest.Clock(f.of).Step(time.Minute)
			now := f.Clock.Now()
			source.pod = jobPod(minute, []string{"a", "b"}[minute%2], now.Add(-40*time.Second), corev1.PodRunning)
			know := []*pod.Pod{source.pod}
			if n := len(pods); n > 0 {
				pods[n-1] = jobPod(minute-1, pods[n-1].Node(), pods[n-1].CreatedAt(), corev1.PodSucceeded)
				know = append(know, pods[n-1])
			}
			if err := f.of.Know(know, nil); err != nil {
				t.Fatal(err)
			}
			if pods = append(pods, source.pod); len(pods) > kept {
				if err := f.of.Forget(pods[0]); err != nil {
					t.Fatal(err)
				}
				f.podChanged(pods[0], nil)
				pods = pods[1:]
			}
			f.readOnce(t.Context(), f.sources[0])
			f.publish(t.Context())
			if minute%day == day-1 {
				heaps = append(heaps, podtest.HeapInUse())
			}
		}
		if got := f.store.Containers(); len(got) != 1 || got[0].Workload != "report" || f.Table().Len() != 1 || len(f.survey.Load().workloads) != 1 {
			t.Errorf("containers %v, %d recommendations, %d workloads", got, f.Table().Len(), len(f.survey.Load().workloads))
		}
		if s := f.Sources()[0]; s.Counted != 2*7*day || s.Rejected+s.Waiting > 0 {
			t.Errorf("%+v", s)
		}
		if n := len(f.gone.pods); n > int(remembered/time.Minute)+1 {
			t.Errorf("%d deleted pods are remembered", n)
		}
		if grown := heaps[6] - heaps[1]; grown > 128<<10 {
			t.Errorf("%.0f KiB more than five days before: %.0f", grown/1024, heaps)
		}
	})
}
