package production

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/deploy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/test/production/truth"
	"github.com/workload-resizer/workload-resizer/test/steppedworld"
)

const (
	// teams is how many namespaces the workloads are in.
	teams         = 8
	nodeTypeLabel = "cloud.google.com/machine-family"
	// length is the time between two reports.
	length = 5 * time.Minute
)

// world is a cluster with workloads, and two servers whose clock a test moves.
type world struct {
	*localcluster.Cluster
	*steppedworld.Servers
	client kubernetes.Interface
	truth  *truth.Truth
	seen   *steppedworld.Observer
}

// newWorld starts a cluster with the workloads, without servers.
func newWorld(t *testing.T, of *truth.Truth) *world {
	t.Helper()
	var nodes []string
	for _, each := range of.Types {
		nodes = append(nodes, fmt.Sprintf("%s=%d:speed=%v", each.Name, of.Nodes, each.Speed))
	}
	w := &world{truth: of, Cluster: localcluster.ForTestWith(t, localcluster.Options{Nodes: strings.Join(nodes, ","), NodeCPU: 32, NodeMemory: "128Gi"})}
	w.client = kubernetes.NewForConfigOrDie(w.Config())
	if err := localcluster.Apply(t.Context(), w.Config(), deploy.Base()...); err != nil {
		t.Fatal(err)
	}
	for i := range teams {
		w.apply(t, fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: team-%d}\n", i))
	}
	w.seen = steppedworld.Observe(t, w.client, "app")
	for i := range of.Workloads {
		w.apply(t, w.manifest(&of.Workloads[i], 0))
	}
	w.runs(t)
	return w
}

// begin starts the servers at a time.
func (w *world) begin(t *testing.T, at time.Time) {
	t.Helper()
	kubeconfig, err := localcluster.ServiceAccountKubeconfig(t.Context(), w.Config(), deploy.Namespace, deploy.ServiceAccount, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w.Servers = steppedworld.Start(t, "production", kubeconfig, at, "--ratio-sources=override,production,configmap,benchmark")
}

func (w *world) apply(t *testing.T, manifest string) {
	t.Helper()
	localcluster.Eventually(t, "the manifest to be applied", func() error {
		return localcluster.Apply(t.Context(), w.Config(), []byte(manifest))
	})
}

// pods is the number of pods.
func (w *world) pods() int { return len(w.truth.Workloads) * w.truth.Each * len(w.truth.Types) }

// runs waits until all pods run.
func (w *world) runs(t *testing.T) {
	t.Helper()
	w.seen.Await(t, "all pods to run", (*steppedworld.Course).Runs, w.pods())
}

// manifest returns the manifest of a workload in a version.
func (w *world) manifest(of *truth.Workload, version int) string {
	limits := ""
	if limit := of.Limit(); limit > 0 {
		limits = fmt.Sprintf(", limits: {cpu: %.0fm}", 1000*limit)
	}
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: team-%[2]d}
spec:
  replicas: %[3]d
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}, annotations: {version: "%[4]d"}}
    spec:
      terminationGracePeriodSeconds: 0
      topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: %[5]s, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: %[1]s}}, matchLabelKeys: [pod-template-hash]}
      - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: %[1]s}}, matchLabelKeys: [pod-template-hash]}
      containers:
      - {name: app, image: none, resources: {requests: {cpu: %.0[6]fm, memory: 256Mi}%[7]s}}
`, of.Name, of.Number%teams, w.truth.Each*len(w.truth.Types), version, nodeTypeLabel, 1200*of.Cores, limits)
}

// configure puts the ratios that somebody wrote by hand into effect, in the order of the types, and a mode of production.
func (w *world) configure(t *testing.T, mode string, ratios ...float64) {
	t.Helper()
	types := ""
	for i, of := range w.truth.Types {
		types += fmt.Sprintf("\n      %s: {cpuPerf: %v, memPerf: 1}", of.Name, ratios[i])
	}
	w.apply(t, fmt.Sprintf(`apiVersion: v1
kind: ConfigMap
metadata: {name: workload-resizer-config, namespace: workload-resizer-system}
data:
  config.yaml: |
    baselineNodeType: %s
    nodeTypes:%s
    production: {mode: %s}
`, w.truth.Types[0].Name, types, mode))
}

// place is where a pod runs.
type place struct {
	of  *truth.Workload
	pod truth.Pod
}

// placeOf returns where a pod runs. Nodes are called after their type and number.
func (w *world) placeOf(t *testing.T, p *corev1.Pod) place {
	t.Helper()
	nodeType, number, _ := strings.Cut(p.Spec.NodeName, "-")
	node, err := strconv.Atoi(number)
	i := slices.IndexFunc(w.truth.Workloads, func(of truth.Workload) bool { return of.Name == p.Labels["app"] })
	if err != nil || i < 0 {
		t.Fatalf("pod %s of %q runs on %q", p.Name, p.Labels["app"], p.Spec.NodeName)
	}
	return place{&w.truth.Workloads[i], truth.Pod{Name: p.Name, Type: nodeType, Node: node}}
}

// measure adds what all containers have used in the time before now to what is reported, and reports it.
func (w *world) measure(t *testing.T) {
	t.Helper()
	nodes, led := map[string]string{}, map[string]bool{}
	for _, c := range w.seen.All() { // Always in the same order, so that a pod leads for as long as it lives.
		if c.Runs() != nil {
			continue
		}
		nodes[string(c.Pod.UID)] = c.Pod.Spec.NodeName
		at := w.placeOf(t, c.Pod)
		at.pod.Leads = !led[at.of.Name]
		led[at.of.Name] = true
		cores, throttled, memory := w.truth.Uses(at.of, at.pod, w.At), 0.0, int64(100<<20)
		limits := c.Limits("app")
		if most := limits.Cpu().AsApproximateFloat64(); most > 0 && cores > most {
			throttled, cores = 1-most/cores, most
		}
		w.Pend(&workloadresizerv1.ContainerUsage{
			PodUid: string(c.Pod.UID), Container: "app", EndTime: timestamppb.New(w.At), MeasureDuration: durationpb.New(length),
			CpuCores: &cores, MemoryPeakBytes: &memory, Throttled: &throttled, MemoryLimitEvents: new(int64), MemoryChargedBytes: &memory,
		})
	}
	w.Report(t, func(podUID string) string { return nodes[podUID] })
}

// settle waits until nodes have completed what the servers asked for.
func (w *world) settle() {
	if !w.seen.Settled() {
		w.Fault("resizes did not come to an end")
	}
}

// removeNode lets a node go, with its pods.
func (w *world) removeNode(t *testing.T, name string) {
	t.Helper()
	if err := w.Stop(t.Context(), "node-"+name); err != nil {
		t.Fatal(err)
	}
	if err := w.client.CoreV1().Nodes().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range w.seen.All() {
		if c.Pod.Spec.NodeName != name {
			continue
		}
		if err := w.client.CoreV1().Pods(c.Pod.Namespace).Delete(t.Context(), c.Pod.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}); err != nil {
			t.Fatal(err)
		}
	}
	w.runs(t)
}

// addNode lets a node come back.
func (w *world) addNode(t *testing.T, name string) {
	t.Helper()
	if err := w.Start(t.Context(), "node-"+name); err != nil {
		t.Fatal(err)
	}
	localcluster.Eventually(t, "the node to be ready", func() error {
		node, err := w.client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		}) {
			return fmt.Errorf("node %s is not ready", name)
		}
		return nil
	})
}

// rollOut rolls every fourth workload out in a version.
func (w *world) rollOut(t *testing.T, version int) {
	t.Helper()
	var names []string
	for i := range w.truth.Workloads {
		if i%4 == version%4 {
			w.apply(t, w.manifest(&w.truth.Workloads[i], version))
			names = append(names, w.truth.Workloads[i].Name)
		}
	}
	w.seen.Await(t, "the rollout to end", func(c *steppedworld.Course) error {
		if slices.Contains(names, c.Pod.Labels["app"]) && c.Pod.Annotations["version"] != strconv.Itoa(version) {
			return fmt.Errorf("it is of version %s", c.Pod.Annotations["version"])
		}
		return c.Runs()
	}, w.pods())
}

// shown is what production shows of a type, and the ratio in effect.
type shown struct {
	*workloadresizerv1.ProductionSuggestion
	inEffect float64
}

// shows returns what production shows of each type.
func (w *world) shows(ctx context.Context, t *testing.T) map[string]shown {
	t.Helper()
	found := map[string]shown{}
	localcluster.Eventually(t, "the suggestions", func() error {
		list, err := w.AwaitCollector(t, w.At).ListSuggestions(ctx)
		if err != nil {
			return err
		}
		for _, s := range list.GetSuggestions() {
			found[s.GetNodeType()] = shown{s.GetProduction(), s.GetCurrent().GetCpuPerf()}
		}
		return nil
	})
	return found
}
