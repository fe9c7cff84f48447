package demand

import (
	"context"
	"fmt"
	"strings"
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
func jobPod(n int, node string, at time.Time, phase corev1.PodPhase, changes ...func(*corev1.Pod)) *pod.Pod {
	name := fmt.Sprintf("report-%d", n)
	return pod.From(podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, append([]func(*corev1.Pod){clustertest.Named("shop", name+"-x", node), func(p *corev1.Pod) {
		p.OwnerReferences[0].Kind, p.OwnerReferences[0].Name = "Job", name
		p.Labels = map[string]string{DefaultJobLabel: "report", "job-name": name}
		p.CreationTimestamp, p.Status.Phase = metav1.NewTime(at), phase
	}}, changes...)...))
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

var report = history.Container{Namespace: "shop", Kind: "Job", Workload: "report", Name: "app"}

// script is a script that creates Jobs, of which the last ones stay in the cluster.
type script struct {
	*fixture
	measures *latest
	pods     []*pod.Pod
	started  int
}

func newScript(t *testing.T) *script {
	s := &script{fixture: newFixture(t, following()), measures: &latest{}}
	s.of = clustertest.Of(t, nil, s.of.Nodes())
	s.of.Ratios = s.Ratios
	s.Demands = New(Config{
		Cluster: s.of, Ratios: s.Ratios, Planner: s.of.Planner, Leads: func() bool { return s.leads }, Clock: tickless{clustertest.Clock(s.of)},
		Usage: Usage{Sources: []Source{{Source: s.measures, Interval: time.Minute}}},
	})
	return s
}

// run lets a Job run for a few minutes, in which it is measured, and end in a phase. kept is how many pods stay.
func (s *script) run(t *testing.T, kept int, phase corev1.PodPhase, ended ...func(*corev1.Pod)) {
	t.Helper()
	s.started++
	created := s.Clock.Now().Add(-40 * time.Second)
	begun := jobPod(s.started, "a", created, corev1.PodRunning)
	s.know(t, begun)
	s.measures.pod = begun
	for range 3 {
		s.round(t)
		clustertest.Clock(s.of).Step(time.Minute)
	}
	now := jobPod(s.started, "a", created, phase, ended...)
	s.know(t, now)
	s.podChanged(begun, now)
	for s.pods = append(s.pods, now); len(s.pods) > kept; s.pods = s.pods[1:] {
		if err := s.of.Forget(s.pods[0]); err != nil {
			t.Fatal(err)
		}
		s.podChanged(s.pods[0], nil)
	}
	s.publish(t.Context())
}

func (s *script) know(t *testing.T, p *pod.Pod) {
	t.Helper()
	if err := s.of.Know([]*pod.Pod{p}, nil); err != nil {
		t.Fatal(err)
	}
}

// keeps returns why the CPU of the Jobs is not lowered.
func (s *script) keeps(t *testing.T) string {
	t.Helper()
	r, known := s.Table().Demand(usage.Key{Container: report})
	if !known {
		t.Fatal("no recommendation")
	}
	o := s.survey.Load().options(report).Recommend
	return o.KeepsCPU(&r)
}

func TestRuns(t *testing.T) {
	const hour = time.Hour
	killed := func(p *corev1.Pod) {
		resources := p.Spec.Containers[0].Resources
		killedAt(p.CreationTimestamp.Add(time.Minute))(p)
		p.Spec.Containers[0].Resources = resources
	}
	restarted := func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", RestartCount: 1}}
	}
	suspended := func(p *corev1.Pod) {
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = new(metav1.NewTime(p.CreationTimestamp.Add(90*time.Second))), new(int64(30))
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(p.CreationTimestamp.Add(61 * time.Second))}}}}
	}
	later := func(p *corev1.Pod) { p.Spec.Containers[0].Image = "report:2" }
	for _, test := range []struct {
		name  string
		every time.Duration
		kept  int
		// ended is what happens to some of the runs.
		ended func(run int) (corev1.PodPhase, []func(*corev1.Pod))
		runs  int
		// want is part of why CPU is not lowered; empty if it is.
		want string
	}{
		{"nine of nine days lower nothing", 24 * hour, 3, nil, 9, "in 9 successful runs, on 9 days"},
		{"ten of ten days do", 24 * hour, 3, nil, 10, ""},
		{"ten of an hour do not", 5 * time.Minute, 3, nil, 10, "in 10 successful runs, on 1 day,"},
		{"those whose pods stay count once", 24 * hour, 100, nil, 9, "in 9 successful runs, on 9 days"},
		{"those whose pods are deleted immediately count, too", 24 * hour, 0, nil, 11, ""},
		{"those that failed do not count", 24 * hour, 3, func(run int) (corev1.PodPhase, []func(*corev1.Pod)) {
			return []corev1.PodPhase{corev1.PodSucceeded, corev1.PodFailed}[run%2], nil
		}, 18, "in 9 successful runs, on 9 days"},
		{"those that were killed before they ended do not count", 24 * hour, 3, func(run int) (corev1.PodPhase, []func(*corev1.Pod)) {
			return corev1.PodSucceeded, []func(*corev1.Pod){killed, nothing}[run%2 : run%2+1]
		}, 18, "in 9 successful runs, on 9 days"},
		{"those whose pods were deleted before they ended do not count", 24 * hour, 3, func(run int) (corev1.PodPhase, []func(*corev1.Pod)) {
			return corev1.PodSucceeded, []func(*corev1.Pod){suspended, nothing}[run%2 : run%2+1]
		}, 18, "in 9 successful runs, on 9 days"},
		{"those that failed before they ended do not count", 24 * hour, 3, func(run int) (corev1.PodPhase, []func(*corev1.Pod)) {
			return corev1.PodSucceeded, []func(*corev1.Pod){restarted, nothing}[run%2 : run%2+1]
		}, 18, "in 9 successful runs, on 9 days"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newScript(t)
			for run := range test.runs {
				if run > 0 {
					clustertest.Clock(s.of).Step(test.every - 3*time.Minute)
				}
				phase, ended := corev1.PodSucceeded, []func(*corev1.Pod){}
				if test.ended != nil {
					phase, ended = test.ended(run)
				}
				s.run(t, test.kept, phase, ended...)
			}
			for range 3 {
				s.publish(t.Context())
			}
			if got := s.keeps(t); got != test.want && (test.want == "" || !strings.Contains(got, test.want)) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
	t.Run("of a new version begin again, even if none of them was seen while it ran", func(t *testing.T) {
		s := newScript(t)
		for run := range 12 {
			if run > 0 {
				clustertest.Clock(s.of).Step(24*hour - 3*time.Minute)
			}
			s.run(t, 3, corev1.PodSucceeded)
		}
		if got := s.keeps(t); got != "" {
			t.Fatal(got)
		}
		s.started++
		s.know(t, jobPod(s.started, "a", s.Clock.Now(), corev1.PodSucceeded, later))
		s.publish(t.Context())
		if got := s.keeps(t); !strings.Contains(got, "in 0 successful runs") {
			t.Error(got)
		}
	})
	t.Run("count on the replica that leads", func(t *testing.T) {
		s := newScript(t)
		s.leads = false
		s.run(t, 3, corev1.PodSucceeded)
		if got := s.keeps(t); !strings.Contains(got, "in 0 successful runs") {
			t.Error(got)
		}
	})
	t.Run("are known by the size of their pods, even if none runs when a replica starts", func(t *testing.T) {
		s := newScript(t)
		s.run(t, 3, corev1.PodSucceeded)
		s.survey.Store(&survey{})
		s.publish(t.Context())
		if f := s.survey.Load().workloads[ownerOf(report)]; f == nil || f.version.Hash == 0 {
			t.Errorf("%+v", f)
		}
	})
}

func nothing(*corev1.Pod) {}
