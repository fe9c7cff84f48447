package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/deploy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/samples"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// benchNode is the name of all objects of the node agent, and the label
// "app.kubernetes.io/name" of its pods.
const benchNode = "workload-resizer-bench-node"

// benchmarked is a cluster whose nodes are measured, and a server that users and agents
// can reach.
type benchmarked struct {
	*cluster
	// s has the editor's client.
	s    *server
	cert localcluster.Certificate
	// namespace holds the users' ServiceAccounts, and pods on n4 nodes that follow the
	// ratio of n4.
	namespace string
	// viewer and editor are files with tokens.
	viewer, editor string
}

// fewNodes are settings for a cluster with two nodes of each type.
const fewNodes = `
apiVersion: v1
kind: ConfigMap
metadata: {name: %s, namespace: %s}
data: {benchmarks.yaml: "aggregation: {minMachines: 2}"}
`

// benchmarks covers ratios that come from agents, feeds and imports.
func (c *cluster) benchmarks(t *testing.T) {
	b := &benchmarked{cluster: c, namespace: "benchmarks"}
	t.Cleanup(func() { c.forgetMeasurements(t) })
	c.namespace(t, b.namespace)
	var err error
	if b.cert, err = localcluster.ServingCertificate(t.TempDir(), "workload-resizer."+deploy.Namespace+".svc"); err != nil {
		t.Fatal(err)
	}
	b.viewer = c.person(t, b.namespace, "viewer", "workload-resizer-viewer")
	b.editor = c.person(t, b.namespace, "editor", "workload-resizer-editor")
	c.bind(t, b.namespace, b.namespace, "editor", "view")
	b.apply(t, fmt.Appendf(nil, fewNodes, contract.DefaultNames.Benchmarks, deploy.Namespace))
	b.s = b.serve(t)
	b.startAgents(t)
	c.deploy(t, b.namespace,
		app{name: "web", nodeType: "n4", selector: map[string]string{"kubernetes.io/hostname": "n4-0"}, requests: small},
		app{name: "cache", nodeType: "n4", selector: map[string]string{"kubernetes.io/hostname": "n4-1"}, requests: small})
	c.awaitCPU(t, b.namespace, "web", "80m")
	c.awaitCPU(t, b.namespace, "cache", "80m")

	t.Run("the agent measures its node or reports why it cannot", b.realAgent)
	t.Run("agents send their measurements", b.agentsSend)
	t.Run("an agent may send samples only of its own node", b.ownNodeOnly)
	t.Run("a suggestion is accepted", b.acceptSuggestion)
	t.Run("a suggestion that is held back is not accepted", b.refuseHeldBack)
	t.Run("files are imported", b.importFiles)
	t.Run("feeds are read", b.readFeeds)
	t.Run("a CPU model can have its own ratio", b.cpuModel)
	t.Run("the override is deleted", func(t *testing.T) {
		b.ask(t, 0, b.editor, "ratios", "delete", "n4", "--yes")
		c.awaitCPU(t, b.namespace, "web", "80m")
	})
	t.Run("samples of many node types are spread over all ConfigMaps", b.manyTypes)
	t.Run("all replicas know the same samples", b.replicas)
}

// manyTypes sends samples of so many node types that every ConfigMap for samples holds
// some.
func (b *benchmarked) manyTypes(t *testing.T) {
	var all []*workloadresizerv1.BenchmarkSample
	for n := range 96 {
		all = append(all, &workloadresizerv1.BenchmarkSample{
			Id: "1", NodeType: fmt.Sprintf("many-%d", n), Benchmark: "coremark", Score: 100, Vcpus: 8, Threads: 8, Machine: "a",
			MeasureTime: timestamppb.New(time.Now().Truncate(time.Second)),
		})
	}
	if got, err := b.s.api.IngestSamples(t.Context(), all, false); err != nil || int(got.GetStored()) != len(all) {
		t.Fatalf("sent: %v, %v", got, err)
	}
	for n := range samples.Shards {
		cm, err := b.client.CoreV1().ConfigMaps(deploy.Namespace).Get(t.Context(), fmt.Sprint(contract.DefaultNames.SamplesPrefix, n), metav1.GetOptions{})
		if err != nil || len(cm.Data)+len(cm.BinaryData) == 0 {
			t.Errorf("ConfigMap %d is empty, %v", n, err)
		}
	}
}

// serve starts a server, one of several replicas.
func (b *benchmarked) serve(t *testing.T) *server {
	t.Helper()
	s := b.serveSecured(t, b.cert, quickLease...)
	return &server{s, dialSecured(t, s.GRPCAddress, b.cert.CertFile, b.editor), []string{"--server", s.GRPCAddress}}
}

// ask runs resizectl with a user's token, checks its exit code, and returns its output.
func (b *benchmarked) ask(t *testing.T, code int, token string, args ...string) string {
	t.Helper()
	return b.s.resizectl(t, code, append(args, "--certificate-authority", b.cert.CertFile, "--token-file", token)...)
}

// startAgents creates the DaemonSet of the node agent. Its pods are simulated and execute
// nothing.
func (b *benchmarked) startAgents(t *testing.T) {
	t.Helper()
	root, err := localcluster.Root()
	if err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(b.cert.CertFile)
	if err != nil {
		t.Fatal(err)
	}
	b.trust(t, ca)
	for _, name := range []string{"serviceaccount.yaml", "daemonset.yaml"} {
		manifest, err := os.ReadFile(filepath.Join(root, "deploy", "components", "bench-node", name))
		if err != nil {
			t.Fatal(err)
		}
		b.apply(t, manifest)
	}
	t.Cleanup(func() { b.removeAgents(t) })
	nodes, err := b.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b.awaitRunning(t, deploy.Namespace, len(nodes.Items))
}

func (b *benchmarked) removeAgents(t *testing.T) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	err := errors.Join(
		b.client.AppsV1().DaemonSets(deploy.Namespace).Delete(ctx, benchNode, metav1.DeleteOptions{}),
		b.client.CoreV1().ServiceAccounts(deploy.Namespace).Delete(ctx, benchNode, metav1.DeleteOptions{}),
		b.client.RbacV1().ClusterRoleBindings().Delete(ctx, benchNode, metav1.DeleteOptions{}),
		b.client.SchedulingV1().PriorityClasses().Delete(ctx, benchNode, metav1.DeleteOptions{}),
	)
	if err != nil {
		t.Error(err)
	}
	localcluster.Eventually(t, "the agents to be gone", func() error {
		pods, err := b.client.CoreV1().Pods(deploy.Namespace).List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=" + benchNode})
		if err == nil && len(pods.Items) > 0 {
			err = fmt.Errorf("%d still exist", len(pods.Items))
		}
		return err
	})
}

// forgetMeasurements resets the ConfigMaps of benchmarks to their installed state. No
// server is running by then.
func (c *cluster) forgetMeasurements(t *testing.T) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	configMaps := c.client.CoreV1().ConfigMaps(deploy.Namespace)
	if err := configMaps.Delete(ctx, contract.DefaultNames.Benchmarks, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		t.Error(err)
	}
	list, err := configMaps.List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	written := regexp.MustCompile("^(" + contract.DefaultNames.SamplesPrefix + "[0-9]+|" + contract.DefaultNames.BenchmarkRatios + ")$")
	for i := range list.Items {
		cm := &list.Items[i]
		if !written.MatchString(cm.Name) || len(cm.Data)+len(cm.BinaryData) == 0 {
			continue
		}
		cm.Data, cm.BinaryData = nil, nil
		if _, err := configMaps.Update(ctx, cm, metav1.UpdateOptions{}); err != nil {
			t.Error(err)
		}
	}
}

// agentOn returns the pod of the node agent on a node.
func (b *benchmarked) agentOn(t *testing.T, node string) *corev1.Pod {
	t.Helper()
	list, err := b.client.CoreV1().Pods(deploy.Namespace).List(t.Context(), metav1.ListOptions{
		LabelSelector: "app.kubernetes.io/name=" + benchNode, FieldSelector: "spec.nodeName=" + node,
	})
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("%d agents on %s, %v", len(list.Items), node, err)
	}
	return &list.Items[0]
}

// rows checks that each pattern matches a row of text, whose columns are separated by
// spaces.
func rows(t *testing.T, text string, patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		if !regexp.MustCompile(`(?m)^\s*` + regexp.MustCompile(` +`).ReplaceAllString(pattern, `\s+`)).MatchString(text) {
			t.Errorf("no row matches %q:\n%s", pattern, text)
		}
	}
}

// replicas expects each replica to know the samples that any of them received. If the
// leader, which moves ratios, is killed, the other replica keeps the published ratios.
func (b *benchmarked) replicas(t *testing.T) {
	other := b.serve(t)
	sent, err := b.s.api.IngestSamples(t.Context(), []*workloadresizerv1.BenchmarkSample{{
		Id: "1", NodeType: "far", Benchmark: "coremark", Score: 100, Vcpus: 8, Threads: 8, Machine: "a", MeasureTime: timestamppb.New(time.Now().Truncate(time.Second)),
	}}, false)
	if err != nil || sent.GetStored() != 1 {
		t.Fatalf("sent: %v, %v", sent, err)
	}
	localcluster.Eventually(t, "the other replica to know the sample", func() error {
		for got, err := range other.api.ListBenchmarks(t.Context(), &workloadresizerv1.ListBenchmarksRequest{NodeType: "far"}) {
			if err != nil || got.GetSamples() == 1 {
				return err
			}
		}
		return errors.New("it does not know the sample")
	})

	published := func(s *server) string {
		t.Helper()
		got, err := s.api.Ratios().GetRatio(t.Context(), &workloadresizerv1.GetRatioRequest{NodeType: "t2d"})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%.6f by %s", got.GetRatio().GetCpuPerf(), got.GetRatio().GetProvenance().GetSource())
	}
	before := published(b.s)
	if !leads(t, b.s) {
		t.Fatal("the first replica does not lead")
	}
	if err := b.s.Kill(); err != nil {
		t.Fatal(err)
	}
	localcluster.Eventually(t, "the other replica to lead", func() error {
		if !leads(t, other) {
			return errors.New("it does not lead")
		}
		return nil
	})
	if now := published(other); now != before || before != "1.456000 by benchmark" {
		t.Errorf("the ratio changed from %s to %s", before, now)
	}
}
