package judge

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/intake"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/samples"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/settings"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

var began = time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC)

// stored are the ConfigMaps of one provider, on a real API server.
type stored struct {
	client          kubernetes.Interface
	namespace, name string
}

func newStored(t *testing.T, client kubernetes.Interface, namespace, name string) *stored {
	t.Helper()
	s := &stored{client, namespace, name}
	s.write(t, s.state(), nil)
	for i := range samples.Shards {
		s.write(t, fmt.Sprint(s.prefix(), i), nil)
	}
	return s
}

func (s *stored) state() string    { return s.name + "-ratios" }
func (s *stored) prefix() string   { return s.name + "-samples-" }
func (s *stored) settings() string { return s.name + "-settings" }

func (s *stored) config(c benchmark.Config) benchmark.Config {
	c.Client, c.Namespace, c.SettingsName, c.StateName, c.SamplesPrefix = s.client, s.namespace, s.settings(), s.state(), s.prefix()
	return c
}

// write writes data as a person would with kubectl.
func (s *stored) write(t *testing.T, name string, data map[string]string) {
	t.Helper()
	api := s.client.CoreV1().ConfigMaps(s.namespace)
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}
	_, err := api.Update(context.Background(), cm, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		_, err = api.Create(context.Background(), cm, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (s *stored) set(t *testing.T, text string) {
	t.Helper()
	s.write(t, s.settings(), map[string]string{settings.Key: text})
}

// replica is a judge, its provider, and a store with the provider as first source and a
// second source with n2d 1 and n4 1.25. The judge does not run: tests control when it
// judges.
type replica struct {
	judge *Judge
	in    *intake.Intake
	store *ratios.Store
	base  *ratiotest.Memory
	clock *clocktesting.FakeClock
	stop  func()
}

func byHand() *ratios.Layer {
	return &ratios.Layer{Baseline: "n2d", Ratios: map[string]ratios.Ratio{
		"n2d": {CPUPerf: 1, MemoryPerf: 1}, "n4": {CPUPerf: 1.25, MemoryPerf: 1.5},
	}}
}

// run starts a replica and waits until it knows everything.
func (s *stored) run(t *testing.T, clock *clocktesting.FakeClock, c benchmark.Config) *replica {
	t.Helper()
	r := s.start(t, clock, c)
	localcluster.Eventually(t, "a view", func() error { _, err := r.judge.View(); return err })
	return r
}

// start starts a replica and waits for a table.
func (s *stored) start(t *testing.T, clock *clocktesting.FakeClock, c benchmark.Config) *replica {
	t.Helper()
	c = s.config(c)
	c.Clock = clock
	p := benchmark.New(c)
	r := &replica{base: ratiotest.NewMemory("configmap", ratios.Update{Layer: byHand()}), clock: clock}
	r.store = ratios.NewStore(p, r.base)
	r.judge = New(Config{Provider: p, Ratios: r.store, Clock: clock})
	r.in = intake.New(intake.Config{Provider: p, Ratios: r.store, Clock: clock})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.store.Run(ctx) }()
	ended := false
	r.stop = func() {
		if ended {
			return
		}
		ended = true
		cancel()
		if err := <-done; err != nil {
			t.Errorf("ended with %v", err)
		}
	}
	t.Cleanup(r.stop)
	localcluster.Eventually(t, "a table", func() error { _, err := r.store.Ready(); return err })
	return r
}

// ratio returns the effective ratio of a node type.
func (r *replica) ratio(nodeType string) float64 {
	e, ok := r.store.Table().Lookup(nodeType)
	if !ok {
		return 0
	}
	return e.Ratio.CPUPerf
}

// hours advances the clock by n windows, and judges each of them.
func (r *replica) hours(t *testing.T, n int) {
	t.Helper()
	for range n {
		r.clock.SetTime(r.clock.Now().Truncate(time.Hour).Add(time.Hour))
		if err := r.judge.Judge(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// measure adds samples of three machines of a type by three benchmarks, as of now.
func (r *replica) measure(t *testing.T, nodeType string, perf float64) {
	t.Helper()
	now := r.clock.Now()
	var all []sample.Sample
	for _, benchmark := range []string{"bench-node:flate", "bench-node:json", "bench-node:sort"} {
		for machine := range 3 {
			all = append(all, sample.Sample{
				ID: fmt.Sprintf("%s-%d-%s-%d", nodeType, machine, benchmark, now.UnixNano()), NodeType: nodeType, Benchmark: benchmark,
				Score: 8000 * perf * (1 + float64(machine)/1000), VCPUs: 8, Threads: 8, Machine: fmt.Sprintf("%s-%d", nodeType, machine), Time: now,
			})
		}
	}
	outcomes, err := r.in.Add(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range outcomes {
		if o != samples.Stored {
			t.Fatalf("sample %d: outcome %v", i, o)
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 0.002 }

// all returns the names of the ConfigMaps that the provider may write.
func (s *stored) all() []string {
	names := []string{s.state()}
	for i := range samples.Shards {
		names = append(names, fmt.Sprint(s.prefix(), i))
	}
	return names
}

func (s *stored) data(t *testing.T, name string) map[string]string {
	t.Helper()
	cm, err := s.client.CoreV1().ConfigMaps(s.namespace).Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return cm.Data
}
