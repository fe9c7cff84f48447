package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/fetch"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/intake"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/judge"
	"github.com/workload-resizer/workload-resizer/ratios/configmap"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/loop"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// measuredSettings let n4 follow the measurements of a feed.
const measuredSettings = `
apiVersion: v1
kind: ConfigMap
metadata: {name: workload-resizer-benchmarks, namespace: workload-resizer-system}
data:
  benchmarks.yaml: |
    nodeTypes: {n4: {mode: apply}}
    aggregation: {minMachines: 3}
    feeds: [{name: lab, format: samples, url: %q, insecure: true, interval: 1m}]
`

// measuredCluster is a cluster whose pods follow measurements, with a clock that the test
// controls: ninety days are too long to wait.
type measuredCluster struct {
	*cluster
	clock  *clocktesting.FakeClock
	intake *intake.Intake
	judge  *judge.Judge
	store  *ratios.Store
	lab    *website
}

// TestPodsFollowMeasurements makes n4 nodes a little faster, then much faster, and then
// stops measuring them. The server's parts run in this process under the ServiceAccount
// of deploy/base. The nodes are real kubelets.
func TestPodsFollowMeasurements(t *testing.T) {
	t.Parallel()
	const namespace = "measured"
	c := newCluster(localcluster.ForTest(t, "n2d=1,n4=1"))
	lab := newWebsite(t)
	c.apply(t, append(deploy.Base(), promptConfig(), fmt.Appendf(nil, measuredSettings, lab.URL))...)
	m := c.measured(t)
	m.lab = lab
	c.namespace(t, namespace)
	c.deploy(t, namespace, app{name: "web", nodeType: "n4", requests: [2]string{"1", "64Mi"}})
	c.awaitCPU(t, namespace, "web", "800m") // In the sample configuration, n4 has 1.25.

	m.measure(t, 1.25)
	m.awaitFeed(t, "nothing new", func(fetch.Status) bool { return lab.unchangedAnswers() > 0 })
	m.windows(t, 3)
	pod := c.pods(t, namespace)[0]

	t.Run("3% more performance changes nothing", func(t *testing.T) {
		m.remeasure(t, 1.25*1.03)
		m.windows(t, 4)
		if entry, _ := m.store.Table().Lookup("n4"); entry.Ratio.CPUPerf != 1.25 {
			t.Errorf("n4 has %v", entry.Ratio)
		}
		if now := c.pods(t, namespace)[0]; now.Generation != pod.Generation || now.Spec.Containers[0].Resources.Requests.Cpu().MilliValue() != 800 {
			t.Errorf("the pod was changed: %v", now.Spec.Containers[0].Resources)
		}
	})
	t.Run("12% more performance resizes pods in steps", func(t *testing.T) {
		m.remeasure(t, 1.25*1.12)
		m.windows(t, 2)
		c.awaitCPU(t, namespace, "web", "727m") // 10% faster.
		m.windows(t, 3)
		c.awaitCPU(t, namespace, "web", "714m") // 12%.
	})
	t.Run("a feed that fails changes nothing", func(t *testing.T) {
		for _, tc := range []struct {
			status       int
			content, why string
		}{
			{http.StatusInternalServerError, "", "the server responded with 500 Internal Server Error; the copy from "},
			{http.StatusOK, "<html>", "none of the 1 rows is valid, e.g. line 1"},
		} {
			lab.publish(tc.status, tc.content)
			m.awaitFeed(t, tc.why, func(s fetch.Status) bool {
				return s.Err != nil && strings.Contains(s.Err.Error(), tc.why) && s.Result.Samples == nil && s.Result.Rows == 18
			})
		}
		m.windows(t, 3)
		c.checkCPU(t, namespace, "web", "714m")
		if entry, _ := m.store.Table().Lookup("n4"); entry.Ratio.CPUPerf != 1.4 || entry.Ratio.Provenance.Source != benchmark.Source {
			t.Errorf("n4 has %v", entry.Ratio)
		}
	})
	t.Run("after 90 days without measurements, the configuration applies", func(t *testing.T) {
		m.clock.Step(91 * 24 * time.Hour)
		m.windows(t, 5)
		c.awaitCPU(t, namespace, "web", "800m")
		entry, _ := m.store.Table().Lookup("n4")
		if entry.Ratio.Provenance.Source != configmap.Source {
			t.Errorf("the ratio of n4 is from %q", entry.Ratio.Provenance.Source)
		}
	})
	t.Run("no pod was restarted", func(t *testing.T) {
		now := c.pods(t, namespace)[0]
		if now.UID != pod.UID || now.Status.ContainerStatuses[0].RestartCount != 0 {
			t.Errorf("pod %v, %d restarts", now.UID, now.Status.ContainerStatuses[0].RestartCount)
		}
	})
}

// measured starts the parts of a server that follow measurements and resize.
func (c *cluster) measured(t *testing.T) *measuredCluster {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", c.serviceAccount(t))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	client := kubernetes.NewForConfigOrDie(config)
	m := &measuredCluster{cluster: c, clock: clocktesting.NewFakeClock(time.Now().Truncate(time.Hour))}
	provider := benchmark.New(benchmark.Config{
		Client: client, Namespace: deploy.Namespace, Clock: m.clock,
		SettingsName: "workload-resizer-benchmarks", StateName: "workload-resizer-benchmark-ratios", SamplesPrefix: "workload-resizer-samples-",
	})
	m.store = ratios.NewStore(provider, configmap.New(client, deploy.Namespace, "workload-resizer-config", nil, nil))
	m.intake = intake.New(intake.Config{Provider: provider, Ratios: m.store, Client: client, Namespace: deploy.Namespace, Clock: m.clock})
	m.judge = judge.New(judge.Config{Provider: provider, Ratios: m.store, Clock: m.clock})
	holds := hold.New(client, deploy.Namespace, "workload-resizer-holds")
	l, err := reconciler.New(reconciler.Config{
		Client: client, Dynamic: dynamic.NewForConfigOrDie(config), Writer: client, Asker: client,
		Ratios: m.store, Holds: holds, Planner: plan.Planner{OwnerKinds: plan.DefaultOwnerKinds},
		Events: loop.NoEvents(), Metrics: prometheus.NewRegistry(), Workers: 4,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 4)
	// The judge does not run by itself: the test decides when windows are judged.
	for _, part := range []func(context.Context) error{m.store.Run, m.intake.Run, holds.Run, l.Run} {
		go func() { done <- part(ctx) }()
	}
	t.Cleanup(func() {
		cancel()
		for range cap(done) {
			if err := <-done; err != nil {
				t.Errorf("ended with %v", err)
			}
		}
	})
	localcluster.Eventually(t, "measurements to be known", func() error { _, err := m.judge.View(); return err })
	return m
}

// measure publishes the results of three benchmarks on three machines each of n2d and n4,
// and waits until they are read.
func (m *measuredCluster) measure(t *testing.T, n4 float64) {
	t.Helper()
	now := m.clock.Now()
	var content strings.Builder
	for nodeType, speed := range map[string]float64{"n2d": 1, "n4": n4} {
		for _, name := range []string{"flate", "json", "sort"} {
			for n := range 3 {
				machine := fmt.Sprintf("%s-%d", nodeType, n)
				fmt.Fprintf(&content, `{"id":"%s/%s/%d","nodeType":%q,"benchmark":"bench-node:%s","machine":%q,"score":%v,"vcpus":8,"threads":8,"time":%q}`+"\n",
					machine, name, now.Unix(), nodeType, name, machine, 8000*speed, now.UTC().Format(time.RFC3339))
			}
		}
	}
	m.lab.publish(http.StatusOK, content.String())
	m.awaitFeed(t, "the measurements", func(s fetch.Status) bool { return s.LastSuccess.After(now) && s.Err == nil })
}

// awaitFeed lets a few minutes pass until the feed has the expected state. Even two calls take
// fewer minutes than a window.
func (m *measuredCluster) awaitFeed(t *testing.T, what string, done func(fetch.Status) bool) {
	t.Helper()
	minutes := 0
	localcluster.Eventually(t, "the feed to have "+what, func() error {
		feeds := m.intake.Feeds()
		if len(feeds) == 1 && done(feeds[0]) {
			return nil
		}
		if minutes < 28 {
			m.clock.Step(2 * time.Minute)
			minutes += 2
		}
		return fmt.Errorf("feeds are %+v", feeds)
	})
}

// remeasure publishes new measurements, and lets the earlier ones become too old.
func (m *measuredCluster) remeasure(t *testing.T, n4 float64) {
	t.Helper()
	m.clock.Step(80 * 24 * time.Hour)
	m.measure(t, n4)
	m.clock.Step(11 * 24 * time.Hour)
}

// windows ends and judges n windows, one after another.
func (m *measuredCluster) windows(t *testing.T, n int) {
	t.Helper()
	for range n {
		m.clock.SetTime(m.clock.Now().Truncate(time.Hour).Add(time.Hour))
		if err := m.judge.Judge(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
