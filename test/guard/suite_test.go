package guard

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// unready is how long a pod may not be ready before that counts.
const unready = 5 * time.Second

// everyPod observes resizes. No pod waits for canaries, and no breaker opens although many resizes hurt.
// Pods that fail again and again are not ready for long, which is not what they test. On a busy machine, it may take
// minutes until all pods of a workload are resized, and only then harm is injected.
var everyPod = fmt.Sprintf(`guard: {window: 15m, unready: %v, maxUnproven: 100%%, breaker: false}
    podLabels:
      app:
        crash-loop: {guard: {unready: 1m}}`, unready)

// configOf makes the nodes of all types this much faster than the baseline; with 1.25, requests and limits
// are lowered to 80%.
func configOf(perf float64, guard string) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: ConfigMap
metadata: {name: workload-resizer-config, namespace: workload-resizer-system}
data:
  config.yaml: |
    baselineNodeType: n2d
    nodeTypes:
      n2d: {cpuPerf: 1, memPerf: 1}
      n4: {cpuPerf: %[1]g, memPerf: %[1]g}
      c3: {cpuPerf: %[1]g, memPerf: %[1]g}
      t2d: {cpuPerf: %[1]g, memPerf: %[1]g}
    pace: {resizesPerSecond: 0, freedPerHour: 0}
    %[2]s
`, perf, guard)
}

// usedMemory is the query of an objective, which more than 50Mi break, and objectives are the lines of the
// configuration for pods that have it.
const (
	usedMemory = `max by (namespace, pod) (container_memory_working_set_bytes{container="app"})`
	objectives = `
        objective: {guard: {objectives: [{name: small, prometheus: "%[1]s", query: '%[2]s', above: 5e7}]}}
        no-prometheus: {guard: {objectives: [{name: small, prometheus: "http://127.0.0.1:1", query: '%[2]s', above: 5e7}]}}
`
)

// suite is a cluster with an observer of its pods.
type suite struct {
	*localcluster.Cluster
	client kubernetes.Interface
	seen   *observer
	// prometheus is the URL of the cluster's Prometheus; empty if it has none.
	prometheus string
}

// newSuite starts a cluster with the server's rights and a configuration, but no server. With a Prometheus,
// the configuration must end with rules for values of the label app, which objectives extends.
func newSuite(t *testing.T, o localcluster.Options, config string) *suite {
	t.Helper()
	o.NodeCPU, o.NodeMemory = 64, "256Gi"
	cluster := localcluster.ForTestWith(t, o)
	if err := cluster.Install(t.Context(), "deploy/base", deploy.Namespace, "workload-resizer"); err != nil {
		t.Fatal(err)
	}
	s := &suite{Cluster: cluster, client: kubernetes.NewForConfigOrDie(cluster.Config())}
	if o.Prometheus {
		var err error
		if s.prometheus, err = cluster.PrometheusURL(t.Context()); err != nil {
			t.Fatal(err)
		}
		config += fmt.Sprintf(objectives, s.prometheus, usedMemory)
	}
	s.apply(t, config)
	s.seen = observe(t, s.client)
	return s
}

func (s *suite) apply(t *testing.T, manifest string) {
	t.Helper()
	localcluster.Eventually(t, "the manifest to be applied", func() error {
		return localcluster.Apply(t.Context(), s.Config(), []byte(manifest))
	})
}

// server is a running server and a client of its API.
type server struct {
	*localcluster.Server
	api *client.Client
}

// alone are the arguments of a server that nothing kills: a busy machine stalls for longer than the Lease of one that is replaced lasts.
var alone = []string{"--leader-lease-duration", "60s"}

// serve starts a server and waits until it is ready. Its requests go through the proxy, unless
// that is nil.
func (s *suite) serve(t *testing.T, proxy *localcluster.Proxy, args ...string) *server {
	t.Helper()
	var options []localcluster.KubeconfigOption
	if proxy != nil {
		options = append(options, localcluster.WithServer(proxy.URL, proxy.CA))
	}
	kubeconfig, err := localcluster.ServiceAccountKubeconfig(t.Context(), s.Config(), deploy.Namespace, deploy.ServiceAccount, t.TempDir(), options...)
	if err != nil {
		t.Fatal(err)
	}
	started := localcluster.ServerForTest(t, localcluster.ServerOptions{Kubeconfig: kubeconfig, Args: args})
	ctx, cancel := context.WithTimeout(t.Context(), localcluster.Patience)
	defer cancel()
	if err := started.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	api, err := client.Dial(started.GRPCAddress)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = api.Close() })
	return &server{started, api}
}

// align starts a server and waits until it has recorded the pods of workloads, which have the size that their author
// wrote as long as all nodes are as fast as the baseline. After that, the pods are no longer new, so that a changed
// ratio is tried on canaries.
func (s *suite) align(t *testing.T, namespace string, pods map[string]int) *server {
	t.Helper()
	started := s.serve(t, nil, alone...)
	for name, n := range pods {
		s.seen.await(t, namespace, name, n, "recorded", func(c *course) bool { return running(c) && c.pod.Annotations[appliedKey] != "" })
	}
	return started
}

// annotate sets an annotation of a pod, or removes it if the value is "".
func (s *suite) annotate(t *testing.T, namespace, pod, key, value string) {
	t.Helper()
	text := "null"
	if value != "" {
		text = fmt.Sprintf("%q", value)
	}
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%s}}}`, key, text)
	if _, err := s.client.CoreV1().Pods(namespace).Patch(t.Context(), pod, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// work changes what the container of a pod does.
func (s *suite) work(t *testing.T, c *course, work string) {
	t.Helper()
	s.annotate(t, c.pod.Namespace, c.pod.Name, "work.testcluster.local/app", work)
}
