package feeder_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	metrics "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"

	"github.com/workload-resizer/workload-resizer/test/feeder"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/metricsapi"
	"github.com/workload-resizer/workload-resizer/usage/prometheus"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

const (
	namespace = "shop"
	nodeLabel = "cloud.google.com/machine-family"
	// tolerance is how far measured usage may be off what was declared.
	tolerance = 0.02
	// interval is the time between samples of Prometheus, which scrapes every 5 seconds.
	interval = 20 * time.Second
)

// workloads are a Deployment with a pod on each node, a Job that a label names, the Job of a CronJob,
// and a Deployment whose container leaks until it is killed.
const workloads = `
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {work.testcluster.local/main: '{cpu: 400m, memory: 64Mi}'}}
    spec:
      topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}
      containers: [{name: main, image: none, resources: {requests: {cpu: 100m, memory: 16Mi}}}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: import-x7f, namespace: shop}
spec:
  template:
    metadata: {labels: {app: import}, annotations: {work.testcluster.local/main: '{cpu: 200m, memory: 32Mi}'}}
    spec: {restartPolicy: Never, containers: [{name: main, image: none}]}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: sync, namespace: shop}
spec:
  schedule: '* * * * *'
  concurrencyPolicy: Forbid
  jobTemplate:
    spec:
      template:
        metadata: {annotations: {work.testcluster.local/main: '{cpu: 100m, memory: 24Mi}'}}
        spec: {restartPolicy: Never, containers: [{name: main, image: none}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: leaky, namespace: shop}
spec:
  selector: {matchLabels: {app: leaky}}
  template:
    metadata: {labels: {app: leaky}, annotations: {work.testcluster.local/main: '{cpu: 50m, memory: [{constant: 16Mi}, {leak: 20Mi, every: 5s}]}'}}
    spec:
      containers: [{name: main, image: none, resources: {limits: {memory: 64Mi}}}]
`

// declared is what each container uses on a node of speed 1.
var declared = map[string]recommend.Amounts{
	"web": {CPU: 400, Memory: 64 << 20}, "import": {CPU: 200, Memory: 32 << 20}, "sync": {CPU: 100, Memory: 24 << 20},
}

// speeds has the speed of each type of node.
var speeds = map[string]float64{"n2d": 1, "n4": 1.25}

func TestWorkingCluster(t *testing.T) {
	cluster := localcluster.ForTestWith(t, localcluster.Options{
		Nodes: "n2d=1,n4=1:speed=1.25", NodeCPU: 4, MetricsServer: true, Prometheus: true,
	})
	if err := localcluster.Apply(t.Context(), cluster.Config(), []byte(workloads)); err != nil {
		t.Fatal(err)
	}
	w := &working{
		cluster: cluster, began: time.Now(),
		feeder: &feeder.Feeder{Client: kubernetes.NewForConfigOrDie(cluster.Config()), Namespace: namespace, NodeLabel: nodeLabel, JobLabel: "app"},
	}
	client, err := metrics.NewForConfig(cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	w.metrics = &metricsapi.Source{Client: client, Namespaces: func() []string { return []string{namespace} }}
	address, err := cluster.PrometheusURL(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if w.prometheus, err = prometheus.New(prometheus.Config{Address: address, Interval: interval}); err != nil {
		t.Fatal(err)
	}
	w.store = usage.New(w.feeder.Lookup, func(history.Container) usage.Options {
		options := recommend.FollowOptions()
		options.Floor = recommend.Amounts{}
		return usage.Options{History: history.DefaultOptions(), Recommend: options, Containers: 1}
	}, w.prometheus.Name(), w.metrics.Name())
	t.Run("metrics.k8s.io has what the work uses", w.testMetrics)
	t.Run("Prometheus has what the work uses", w.testPrometheus)
	t.Run("a table has what each workload needs in units of the baseline", w.testTable)
	t.Run("kills count, and each of them once", w.testKills)
	t.Run("sources that are down are errors, and nothing changes", w.testDown)
	t.Run("sources that are back have what the work uses, and no zero", w.testBack)
}

// working is a cluster whose containers work.
type working struct {
	cluster    *localcluster.Cluster
	feeder     *feeder.Feeder
	metrics    *metricsapi.Source
	prometheus *prometheus.Source
	store      *usage.Store
	// began is before all work, and down and up are when the sources were down.
	began, down, up time.Time
}

// read returns the samples of containers with constant work, by "workload resource". It fails for a
// sample that is not what was declared.
func (w *working) read(ctx context.Context, source usage.Source, since time.Time) (map[string]int, error) {
	if err := w.feeder.Refresh(ctx); err != nil {
		return nil, err
	}
	found := map[string]int{}
	var wrong error
	err := source.Read(ctx, since, time.Now(), func(s usage.Sample) {
		identity, known := w.feeder.Lookup(s.Namespace, s.Name, "")
		want, constant := declared[identity.Workload.Name]
		// What a container uses in its first seconds depends on when it starts.
		if !known || !constant || s.At.Add(-s.Length).Before(identity.Created.Add(15*time.Second)) {
			return
		}
		// After an outage, an endpoint that does not know UIDs may be the first that has measured.
		if s.UID != "" && s.UID != identity.UID {
			wrong = errors.Join(wrong, fmt.Errorf("%s has the UID %q, want %q", s.Name, s.UID, identity.UID))
		}
		if s.UID != "" {
			found["identified"]++
		}
		expected, name := float64(want.CPU)/speeds[identity.NodeType], "cpu"
		if s.Resource == history.Memory {
			expected, name = float64(want.Memory), "memory"
		}
		if got := float64(s.Usage); math.Abs(got-expected) > expected*tolerance+1 {
			wrong = errors.Join(wrong, fmt.Errorf("%s of %s at %v is %v, want %v", name, s.Name, s.At, got, expected))
		}
		found[identity.Workload.Name+" "+name]++
	})
	return found, errors.Join(err, wrong)
}

// has waits until a source has both resources of a workload.
func (w *working) has(t *testing.T, source usage.Source, workload string, since time.Time, samples int) {
	t.Helper()
	localcluster.Eventually(t, fmt.Sprintf("%d samples of %s from %s", samples, workload, source.Name()), func() error {
		found, err := w.read(t.Context(), source, since)
		if err != nil && strings.Contains(err.Error(), "want") {
			t.Error(err)
		}
		if err == nil && (found[workload+" cpu"] < samples || found[workload+" memory"] < samples) {
			return fmt.Errorf("found %v", found)
		}
		return err
	})
}

func (w *working) testMetrics(t *testing.T) {
	w.has(t, w.metrics, "web", w.began, 2)
	w.has(t, w.metrics, "import", w.began, 1)
}

func (w *working) testPrometheus(t *testing.T) {
	w.has(t, w.prometheus, "web", w.began, 4)
	w.has(t, w.prometheus, "import", w.began, 2)
	if found, err := w.read(t.Context(), w.prometheus, w.began); err != nil || found["identified"] == 0 {
		t.Errorf("no sample has the UID of its pod: %v, %v", found, err)
	}
}

// collect collects from both sources and the pods.
func (w *working) collect(t *testing.T) *usage.Table {
	t.Helper()
	if err := w.feeder.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, source := range []usage.Source{w.prometheus, w.metrics} {
		if err := w.store.Collect(t.Context(), source, w.began, time.Now()); err != nil {
			t.Error(err)
		}
	}
	return w.publish()
}

// publish publishes what is known.
func (w *working) publish() *usage.Table {
	return w.store.Publish(feeder.Everywhere("n2d", func(nodeType string) (recommend.Speed, bool) {
		speed, known := speeds[nodeType]
		return recommend.Speed{CPU: speed, Memory: 1}, known
	}), time.Now())
}

// demand returns the demand of a workload.
func demand(table *usage.Table, kind, name string) (recommend.Recommendation, bool) {
	return table.Demand(usage.Key{Container: history.Container{Namespace: namespace, Kind: kind, Workload: name, Name: "main"}, Ratios: "n2d"})
}

func (w *working) testTable(t *testing.T) {
	var table *usage.Table
	localcluster.Eventually(t, "demands of all workloads", func() error {
		table = w.collect(t)
		for name, kind := range map[string]string{"web": "Deployment", "leaky": "Deployment", "import": "Job", "sync": "CronJob"} {
			if _, known := demand(table, kind, name); !known {
				return fmt.Errorf("no demand of %s %s", kind, name)
			}
		}
		return nil
	})
	if table.Len() != 4 {
		t.Errorf("%d demands", table.Len())
	}
	// The target is the upper edge of a bucket, which is at most 5% above the usage, and 15%.
	if r, _ := demand(table, "Deployment", "web"); r.Target.CPU < 400*115/100 || r.Target.CPU > 400*115/100*108/100 {
		t.Errorf("web needs %+v", r.Target)
	}
}

func (w *working) testKills(t *testing.T) {
	// The limit of 64 MiB grows by 100 MiB, a bucket and the headroom.
	const least, most = (64 + 100 + 250) << 20, (64 + 100 + 250) << 20 * 106 / 100
	kills := func() (n int32, r recommend.Recommendation, err error) {
		if err := w.feeder.Refresh(t.Context()); err != nil {
			return 0, r, err
		}
		if err := w.feeder.Kill(w.store, time.Now()); err != nil {
			return 0, r, err
		}
		pods, err := w.feeder.Client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "app=leaky"})
		if err != nil || len(pods.Items) != 1 || len(pods.Items[0].Status.ContainerStatuses) != 1 {
			return 0, r, fmt.Errorf("no status of leaky: %w", err)
		}
		r, _ = demand(w.publish(), "Deployment", "leaky")
		return pods.Items[0].Status.ContainerStatuses[0].RestartCount, r, nil
	}
	localcluster.Eventually(t, "three kills that do not feed themselves", func() error {
		n, r, err := kills()
		if err != nil || n < 3 {
			return fmt.Errorf("%d restarts: %w", n, err)
		}
		if r.Target.Memory < least || r.Target.Memory > most {
			t.Errorf("leaky needs %d bytes after %d kills, want %d to %d", r.Target.Memory, n, least, most)
		}
		return nil
	})
}

func (w *working) testDown(t *testing.T) {
	before := w.collect(t)
	for _, component := range []string{"metrics-server", "prometheus"} {
		if err := w.cluster.Stop(t.Context(), component); err != nil {
			t.Fatal(err)
		}
	}
	w.down = time.Now()
	for _, source := range []usage.Source{w.metrics, w.prometheus} {
		localcluster.Eventually(t, source.Name()+" to be down", func() error {
			// The API server may know the last answer for a moment.
			before := w.store.Sources()
			err := w.store.Collect(t.Context(), source, w.began, time.Now())
			if err == nil {
				return errors.New("no error")
			}
			for i, now := range w.store.Sources() {
				if now.Counted != before[i].Counted {
					t.Errorf("%s: %+v, %v", source.Name(), now, err)
				}
			}
			return nil
		})
	}
	after := w.publish()
	for _, name := range []string{"web", "leaky"} {
		then, _ := demand(before, "Deployment", name)
		now, known := demand(after, "Deployment", name)
		if !known || now.Target != then.Target {
			t.Errorf("%s needs %+v, and before %+v", name, now.Target, then.Target)
		}
	}
	localcluster.Eventually(t, "an interval to pass", func() error {
		if time.Since(w.down) < interval+10*time.Second {
			return errors.New("not yet")
		}
		return nil
	})
}

func (w *working) testBack(t *testing.T) {
	for _, component := range []string{"metrics-server", "prometheus"} {
		if err := w.cluster.Start(t.Context(), component); err != nil {
			t.Fatal(err)
		}
	}
	w.up = time.Now()
	w.has(t, w.metrics, "web", w.up, 2)
	// All of it, so that the intervals in which Prometheus was down are included: read fails for
	// a sample that is too low.
	w.has(t, w.prometheus, "web", w.up, 2)
	if _, err := w.read(t.Context(), w.prometheus, w.began); err != nil {
		t.Error(err)
	}
	if r, known := demand(w.collect(t), "Deployment", "web"); !known || r.Lower.CPU == 0 || r.Lower.Memory == 0 {
		t.Errorf("web needs %+v", r)
	}
}
