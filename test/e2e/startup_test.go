package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/timestamppb"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/policy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/taint"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// mostKeptOut is how long a ready node may keep pods out, even while servers are killed.
const mostKeptOut = 35 * time.Second

// actedVersion is the version of the benchmark that actAsAgent delivers.
const actedVersion = "acted"

func TestStartupTaint(t *testing.T) {
	t.Parallel()
	t.Run("new nodes let pods in, at the latest after 35 seconds", newNodesLetPodsIn)
}

// newNodesLetPodsIn lets nodes join again and again while servers are killed.
func newNodesLetPodsIn(t *testing.T) {
	t.Parallel()
	const nodes = 4
	y := &yard{
		cluster: newCluster(localcluster.ForTest(t, fmt.Sprintf("n4=%d:taint=%s", nodes, contract.StartupTaint))),
		seen:    map[types.UID]*arrival{},
	}
	y.apply(t, append(append(deploy.Base(), deploy.StartupTaint()...), []byte(planeConfig))...)
	y.watch(t)
	serve := func() *server {
		return y.serve(t, y.serviceAccount(t), append([]string{"--startup-taint"}, asDeployed...)...).ready(t)
	}
	replicas := []*server{serve(), serve()}
	killLeader := func() {
		localcluster.Eventually(t, "a leader", func() error {
			at := slices.IndexFunc(replicas, func(s *server) bool { return leads(t, s) })
			if at < 0 {
				return fmt.Errorf("no replica leads")
			}
			if err := replicas[at].Kill(); err != nil {
				return err
			}
			replicas = slices.Delete(replicas, at, at+1)
			return nil
		})
	}
	for n := range nodes {
		node, err := y.client.CoreV1().Nodes().Get(t.Context(), fmt.Sprintf("n4-%d", n), metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		// Servers that start late must not be blamed.
		localcluster.Eventually(t, "the first nodes to let pods in", func() error {
			if a := y.of(node.UID); a.opened.IsZero() {
				return fmt.Errorf("%s has the taint", node.Name)
			}
			return nil
		})
	}

	t.Run("while no agent runs", func(t *testing.T) {
		since := y.rejoin(t, "n4-0")
		kept := y.awaitOpen(t, "n4-0", since)
		if kept < 25*time.Second {
			t.Errorf("the agent of a node had only %v", kept)
		}
	})
	t.Run("while the leader is killed", func(t *testing.T) {
		since := y.rejoin(t, "n4-0")
		time.Sleep(10 * time.Second) // The kill must come at a time between the nodes' arrivals.
		other := y.rejoin(t, "n4-1")
		y.awaitReady(t, "n4-1", other)
		killLeader()
		y.awaitOpen(t, "n4-0", since)
		y.awaitOpen(t, "n4-1", other)
		replicas = append(replicas, serve())
	})
	t.Run("while all servers are killed and start again", func(t *testing.T) {
		since := y.rejoin(t, "n4-2")
		y.awaitReady(t, "n4-2", since)
		for _, s := range replicas {
			if err := s.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		replicas = []*server{serve()}
		y.awaitOpen(t, "n4-2", since)
	})
	t.Run("sooner if the node is measured", func(t *testing.T) {
		y.namespace(t, "agents")
		y.person(t, "agents", "agent", "workload-resizer-agent")
		since := y.rejoin(t, "n4-3")
		y.awaitReady(t, "n4-3", since)
		y.actAsAgent(t, replicas[0], "n4-3")
		if kept := y.awaitOpen(t, "n4-3", since); kept > 20*time.Second {
			t.Errorf("pods were kept out for %v", kept)
		}
		t.Run("by its agent", func(t *testing.T) { y.measuredByAgent(t, replicas[0], "n4-0") })
	})
}

// measuredByAgent runs the agent's program behind the taint of a node. It measures the machine of the
// test, for at least 8 seconds. If other processes leave too little of it, the agent must report
// why. The taint must go anyway.
func (y *yard) measuredByAgent(t *testing.T, s *server, node string) {
	since := y.rejoin(t, node)
	y.awaitReady(t, node, since)
	binary, err := localcluster.Binary("workload-resizer")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	agent := exec.CommandContext(ctx, binary, "bench-node", "--every", "24h", "--server", s.GRPCAddress, "--token-file", y.agentToken(t, node), "--node-name", node)
	// A file: what it says is read while it runs.
	output, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = output.Close() }()
	agent.Stdout, agent.Stderr = output, output
	agent.SysProcAttr = asContainer
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = agent.Wait() }()
	defer cancel()
	kept := y.awaitOpen(t, node, since)
	measured := false
	localcluster.Eventually(t, "the result of the agent", func() error {
		list, err := s.api.Benchmarks().ListBenchmarks(t.Context(), &workloadresizerv1.ListBenchmarksRequest{NodeType: "n4"})
		if err != nil {
			return err
		}
		said, err := os.ReadFile(output.Name())
		// On a busy machine, time may run out before the agent has measured all benchmarks.
		measured = slices.ContainsFunc(list.GetBenchmarks(), func(b *workloadresizerv1.Benchmark) bool { return b.GetVersion() != actedVersion })
		if err != nil || measured || strings.Contains(string(said), "no valid measurement: ") {
			return err
		}
		return fmt.Errorf("it only said:\n%s", said)
	})
	// If the machine is busy, the run may have ended after the taint had gone.
	if measured && kept < 8*time.Second {
		t.Errorf("pods were kept out for %v by a node that was measured", kept)
	}
}

// arrival is what is known of a node that has joined.
type arrival struct {
	tainted, ready, opened time.Time
}

// yard is a cluster that nodes join.
type yard struct {
	*cluster
	mu   sync.Mutex
	seen map[types.UID]*arrival
}

// watch records, as the scheduler sees it, when nodes are ready and when their taint is gone.
func (y *yard) watch(t *testing.T) {
	t.Helper()
	nodes, err := y.client.CoreV1().Nodes().Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for event := range nodes.ResultChan() {
			if node, ok := event.Object.(*corev1.Node); ok {
				y.note(node, time.Now())
			}
		}
	}()
}

func (y *yard) note(node *corev1.Node, now time.Time) {
	y.mu.Lock()
	defer y.mu.Unlock()
	a := y.seen[node.UID]
	if a == nil {
		a = &arrival{}
		y.seen[node.UID] = a
	}
	tainted := slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == contract.StartupTaint })
	ready := slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
	if tainted && a.tainted.IsZero() {
		a.tainted = now
	}
	if ready && a.ready.IsZero() {
		a.ready = now
	}
	if !tainted && a.opened.IsZero() {
		a.opened = now
	}
}

func (y *yard) of(node types.UID) arrival {
	y.mu.Lock()
	defer y.mu.Unlock()
	if a := y.seen[node]; a != nil {
		return *a
	}
	return arrival{}
}

// rejoin lets a node leave the cluster and join it again. It returns the identity
// of the new node.
func (y *yard) rejoin(t *testing.T, name string) types.UID {
	t.Helper()
	if err := y.Stop(t.Context(), "node-"+name); err != nil {
		t.Fatal(err)
	}
	before, err := y.client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := y.client.CoreV1().Nodes().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := y.Start(t.Context(), "node-"+name); err != nil {
		t.Fatal(err)
	}
	var joined types.UID
	localcluster.Eventually(t, "the node to join", func() error {
		node, err := y.client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return err
		case err != nil:
			t.Fatal(err)
		case node.UID == before.UID || y.of(node.UID).tainted.IsZero():
			return fmt.Errorf("the node is not registered again with its taint: %v", node.Spec.Taints)
		}
		joined = node.UID
		return nil
	})
	return joined
}

func (y *yard) awaitReady(t *testing.T, name string, node types.UID) {
	t.Helper()
	localcluster.Eventually(t, name+" to be ready", func() error {
		if y.of(node).ready.IsZero() {
			return fmt.Errorf("%s is not ready", name)
		}
		return nil
	})
}

// awaitOpen waits until a node lets pods in, and returns how long it has kept them out since it
// was ready.
func (y *yard) awaitOpen(t *testing.T, name string, node types.UID) time.Duration {
	t.Helper()
	localcluster.Eventually(t, name+" to let pods in", func() error {
		if a := y.of(node); a.ready.IsZero() || a.opened.IsZero() {
			return fmt.Errorf("%s is not ready, or has the taint", name)
		}
		return nil
	})
	a := y.of(node)
	kept := a.opened.Sub(a.ready)
	t.Logf("%s kept pods out for %.1f s after it was ready", name, kept.Seconds())
	if kept > mostKeptOut {
		t.Errorf("%s kept pods out for %v, at most %v is allowed", name, kept, mostKeptOut)
	}
	return kept
}

// agentToken returns a file with the token of the agent on a node.
func (y *yard) agentToken(t *testing.T, node string) string {
	t.Helper()
	no := false
	pod, err := y.client.CoreV1().Pods("agents").Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "agent-on-" + node},
		Spec: corev1.PodSpec{
			NodeName: node, ServiceAccountName: "agent", AutomountServiceAccountToken: &no,
			Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			Containers:  []corev1.Container{{Name: "agent", Image: "none"}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return y.tokenFile(t, "agents", "agent", &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID})
}

// actAsAgent makes the calls of the agent of a node, which claims a measurement and delivers it.
func (y *yard) actAsAgent(t *testing.T, s *server, node string) {
	t.Helper()
	token, err := os.ReadFile(y.agentToken(t, node))
	if err != nil {
		t.Fatal(err)
	}
	as := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+string(token))
	var claim *workloadresizerv1.ClaimMeasurementResponse
	localcluster.Eventually(t, "the server to know the node", func() error {
		var err error
		claim, err = s.api.Benchmarks().ClaimMeasurement(as, &workloadresizerv1.ClaimMeasurementRequest{Node: node, Vcpus: 8, ThreadsPerCore: new(int32(2))})
		return err
	})
	if !claim.GetGranted() || claim.GetReleaseTime().AsTime().Before(time.Now()) {
		t.Fatalf("the claim is %v", claim)
	}
	samples := []*workloadresizerv1.BenchmarkSample{{
		Id: "a", Node: node, Benchmark: "bench-node:json", Version: actedVersion, Score: 800, Vcpus: 8, Threads: 8, MeasureTime: timestamppb.Now(),
	}}
	ctx, cancel := context.WithTimeout(as, localcluster.Patience)
	defer cancel()
	if _, err := s.api.IngestSamples(ctx, samples, false); err != nil {
		t.Fatal(err)
	}
}

func TestOverloadedNodes(t *testing.T) {
	t.Parallel()
	t.Run("new pods start elsewhere while a node is overloaded", newPodsStartElsewhere)
}

// overloadConfig steers new pods away from nodes that have been overloaded for a minute.
const overloadConfig = planeConfig + `    overload: {enabled: true, for: 1m}
`

// steered is a cluster whose nodes may be overloaded.
type steered struct {
	*cluster
	mu sync.Mutex
	// tainted are the nodes with the taint now, and most is how many had it at the same time.
	tainted map[string]bool
	most    int
}

// newPodsStartElsewhere overloads two of five nodes, of which one may have the taint.
func newPodsStartElsewhere(t *testing.T) {
	t.Parallel()
	s := &steered{cluster: newCluster(localcluster.ForTestWith(t, localcluster.Options{Nodes: "n2d=5", NodeCPU: 2, MetricsServer: true})), tainted: map[string]bool{}}
	s.apply(t, append(append(deploy.Base(), deploy.OverloadedTaint()...), []byte(overloadConfig))...)
	s.watch(t)
	s.namespace(t, "busy")
	s.burn(t, "n2d-0", "2")
	s.burn(t, "n2d-1", "1900m")
	s.awaitRunning(t, "busy", 2)
	serve := func() *server { return s.serve(t, s.serviceAccount(t), asDeployed...).ready(t) }
	first := serve()

	t.Run("the scheduler prefers the other nodes", func(t *testing.T) {
		node := s.awaitTainted(t, "n2d-0", "n2d-1")
		s.awaitEvent(t, metav1.NamespaceDefault, node.UID, contract.NodeOverloaded, "its usage of cpu has been at least 90% of allocatable for 1m")
		for n := range 4 {
			s.run(t, fmt.Sprintf("new-%d", n), "", "0")
		}
		s.awaitRunning(t, "busy", 6)
		for _, p := range s.pods(t, "busy") {
			if strings.HasPrefix(p.Name, "new-") && p.Spec.NodeName == node.Name {
				t.Errorf("%s runs on %s", p.Name, node.Name)
			}
		}
	})
	t.Run("no more nodes than the share have it", func(t *testing.T) {
		localcluster.Eventually(t, "the other node to be spared", func() error {
			metrics, err := first.Metrics(t.Context())
			if err != nil {
				return err
			}
			spared, err := metrics.Sum("workload_resizer_overloaded_spared_nodes", nil)
			if err == nil && spared != 1 {
				err = fmt.Errorf("%v nodes are spared", spared)
			}
			return err
		})
	})
	t.Run("another leader clears the node when the load is gone", func(t *testing.T) {
		second := serve()
		if err := first.Kill(); err != nil {
			t.Fatal(err)
		}
		for _, node := range []string{"n2d-0", "n2d-1"} {
			if err := s.client.CoreV1().Pods("busy").Delete(t.Context(), "busy-"+node, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		s.awaitTainted(t)
		if !leads(t, second) {
			t.Error("the second server does not lead")
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.most != 1 {
			t.Errorf("%d nodes had the taint at the same time", s.most)
		}
	})
	t.Run("once it is off, the leader removes what earlier ones have left", func(t *testing.T) {
		s.apply(t, []byte(planeConfig))
		for _, node := range []string{"n2d-3", "n2d-4"} {
			s.leave(t, node)
		}
		s.awaitTainted(t)
	})
}

// leave taints a node as a leader that is gone.
func (s *steered) leave(t *testing.T, name string) {
	t.Helper()
	localcluster.Eventually(t, "the taint on "+name, func() error {
		node, err := s.client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		left := corev1.Taint{Key: policy.DefaultOverloadTaint, Value: contract.OverloadMark, Effect: corev1.TaintEffectPreferNoSchedule}
		_, err = taint.Set(t.Context(), s.client.CoreV1().Nodes(), node, append(node.Spec.Taints, left))
		return err
	})
}

// burn runs a pod on a node that uses this much cpu.
func (s *steered) burn(t *testing.T, node, cpu string) {
	t.Helper()
	s.run(t, "busy-"+node, node, cpu)
}

// run runs a pod on a node, or on any if that is empty.
func (s *steered) run(t *testing.T, name, node, cpu string) {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"work.testcluster.local/app": "{cpu: " + cpu + ", memory: 64Mi}"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "none", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("128Mi")},
		}}}},
	}
	if node != "" {
		pod.Spec.NodeSelector = map[string]string{corev1.LabelHostname: node}
	}
	if _, err := s.client.CoreV1().Pods("busy").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// watch counts the nodes with the taint.
func (s *steered) watch(t *testing.T) {
	t.Helper()
	nodes, err := s.client.CoreV1().Nodes().Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for event := range nodes.ResultChan() {
			node, ok := event.Object.(*corev1.Node)
			if !ok {
				continue
			}
			s.mu.Lock()
			if slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Value == contract.OverloadMark }) {
				s.tainted[node.Name] = true
			} else {
				delete(s.tainted, node.Name)
			}
			s.most = max(s.most, len(s.tainted))
			s.mu.Unlock()
		}
	}()
}

// awaitTainted waits until one of these nodes has the taint, and returns it, or until no node has it.
func (s *steered) awaitTainted(t *testing.T, anyOf ...string) (tainted *corev1.Node) {
	t.Helper()
	localcluster.Eventually(t, fmt.Sprintf("the taint on one of %v", anyOf), func() error {
		nodes, err := s.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		var all []string
		for i := range nodes.Items {
			n := &nodes.Items[i]
			if slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Value == contract.OverloadMark }) {
				tainted, all = n, append(all, n.Name)
			}
		}
		if len(all) != min(1, len(anyOf)) || len(all) == 1 && !slices.Contains(anyOf, all[0]) {
			return fmt.Errorf("%v have it", all)
		}
		return nil
	})
	return tainted
}
