package e2e

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/deploy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// TestJourneys runs the journeys one after another on one cluster: servers resize every
// pod that they see, so two journeys at the same time would interfere.
func TestJourneys(t *testing.T) {
	t.Parallel()
	// x9 has no ratio, and the last node has no type.
	c := newCluster(localcluster.ForTestWith(t, localcluster.Options{Nodes: "n2d=2,n4=2,c3=2,x9=1,=1", AuditPolicy: auditPolicy(t)}))
	c.install(t)

	t.Run("the server runs with the Deployment's flags", c.flagForFlag)
	t.Run("the ConfigMap may be missing, invalid or deleted", c.configMapLifecycle)
	t.Run("pods are resized as previewed", c.mainJob)
	t.Run("a changed ratio resizes only the affected pods", c.ratioChange)
	t.Run("the server waits for an API server that is unreachable at start", c.awayAtStart)
	t.Run("a server without rights is not ready", c.withoutRights)
	t.Run("a server killed between any two writes continues", c.killedBetweenWrites)
	t.Run("pods are restored and resized again", c.restore)
	t.Run("the whole cluster is restored", c.restoreEverything)
	t.Run("a server killed during a restore completes it", c.killedWhileRestoring)
	t.Run("a paused namespace is not resized", c.pause)
	t.Run("a pod waits for room in a quota", c.quota)
	t.Run("a pod waits until a limit range is deleted", c.limitRange)
	t.Run("a pod waits for room on its node", c.nodeCapacity)
	t.Run("a pod is skipped while a vertical autoscaler is active", c.verticalAutoscaler)
	t.Run("a plan shows the effect on a horizontal autoscaler", c.horizontalAutoscaler)
	t.Run("external resizes are skipped, adopted or overridden", c.externallyResized)
	t.Run("pods are sized by the rules that match them", c.ruledPods)
	t.Run("pods are resized again at a steady rate", c.pacedRealignment)
	t.Run("forged originals have no effect", c.forgedOriginals)
	t.Run("events are recorded once", c.toldOnce)
	t.Run("the metrics count actuated resizes", c.actuationCounted)
	t.Run("a preview asks the API server on request", c.serverSidePreview)
	t.Run("grpcurl lists and calls the services", c.grpcurl)
	t.Run("resizectl shows ratios and plans", c.resizectl)
	t.Run("replicas act as one", c.replicas)
	t.Run("the history survives killed leaders", c.historySurvives)
	t.Run("a server that other machines can reach authenticates callers", c.secured)
	t.Run("ratios come from benchmarks", c.benchmarks)
	t.Run("the examples in the documentation work", c.documentation)
	t.Run("policies stamp and guard originals", c.guarded) // Late, because policies stay in effect for a moment.
	t.Run("the server works without streamed lists", c.listsInPages)
	t.Run("every right is used, and none is missing", c.rightsUsed)
}

// cluster is the cluster of the journeys.
type cluster struct {
	*localcluster.Cluster
	client kubernetes.Interface
	// operator is a file with the token of a caller with all permissions in the API.
	operator string
}

func newCluster(local *localcluster.Cluster) *cluster {
	return &cluster{Cluster: local, client: kubernetes.NewForConfigOrDie(local.Config())}
}

func (c *cluster) apply(t *testing.T, manifests ...[]byte) {
	t.Helper()
	for _, m := range manifests {
		// Cleanups also apply manifests, when the test's own context is done.
		if err := localcluster.Apply(context.WithoutCancel(t.Context()), c.Config(), m); err != nil {
			t.Fatal(err)
		}
	}
}

// serviceAccount returns a kubeconfig file for the server's ServiceAccount.
func (c *cluster) serviceAccount(t *testing.T, options ...localcluster.KubeconfigOption) string {
	t.Helper()
	path, err := localcluster.ServiceAccountKubeconfig(t.Context(), c.Config(), deploy.Namespace, deploy.ServiceAccount, t.TempDir(), options...)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// server is a running server and a client of its API.
type server struct {
	*localcluster.Server
	api *client.Client
	// connection has the flags with which resizectl connects to it.
	connection []string
}

// serve starts a server with a kubeconfig, as a user would.
func (c *cluster) serve(t *testing.T, kubeconfig string, args ...string) *server {
	t.Helper()
	return c.serveWith(t, localcluster.ServerOptions{Kubeconfig: kubeconfig, Args: args})
}

// serveWith is like serve with all options.
func (c *cluster) serveWith(t *testing.T, options localcluster.ServerOptions) *server {
	t.Helper()
	s := localcluster.ServerForTest(t, options)
	api, err := client.Dial(s.GRPCAddress)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = api.Close() })
	return &server{s, api, []string{"--server", s.GRPCAddress}}
}

// serveReady starts a server as the Deployment does, with more flags, and waits until
// it is ready.
func (c *cluster) serveReady(t *testing.T, args ...string) *server {
	t.Helper()
	return c.start(t, localcluster.ServerOptions{Args: append(slices.Clone(quickLease), args...)}).ready(t)
}

// servePlain starts a server as serve does, and waits until it is ready.
func (c *cluster) servePlain(t *testing.T, args ...string) *server {
	t.Helper()
	return c.serve(t, c.serviceAccount(t), args...).ready(t)
}

// ready waits until the server is ready.
func (s *server) ready(t *testing.T) *server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), localcluster.Patience)
	defer cancel()
	if err := s.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	return s
}

func (c *cluster) pods(t *testing.T, namespace string) []corev1.Pod {
	t.Helper()
	list, err := c.client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func (c *cluster) awaitRunning(t *testing.T, namespace string, count int) {
	t.Helper()
	localcluster.Eventually(t, fmt.Sprintf("%d running pods in %s", count, namespace), func() error {
		running := 0
		for _, p := range c.pods(t, namespace) {
			reported := p.Status.Phase == corev1.PodRunning
			for i := range p.Spec.Containers {
				status := statusOf(&p, p.Spec.Containers[i].Name)
				reported = reported && status != nil && status.Resources != nil
			}
			if reported {
				running++
			}
		}
		if running != count {
			return fmt.Errorf("%d are running", running)
		}
		return nil
	})
}

// plans returns the plans of a namespace, by pod.
func (s *server) plans(t *testing.T, namespace string) map[string]*workloadresizerv1.Plan {
	t.Helper()
	plans := map[string]*workloadresizerv1.Plan{}
	stream := s.api.PreviewPlans(t.Context(), namespace)
	for plan, err := range stream.All() {
		if err != nil {
			t.Fatal(err)
		}
		plans[plan.GetPod()] = plan
	}
	if int(stream.Summary().GetPods()) != len(plans) {
		t.Fatalf("%d plans, but the summary is %v", len(plans), stream.Summary())
	}
	return plans
}

// awaitSettled waits until nothing is left to resize in a namespace, or in all if the
// namespace is empty, and every pod that should be annotated is.
func (c *cluster) awaitSettled(t *testing.T, s *server, namespace string) {
	t.Helper()
	localcluster.Eventually(t, "all pods of "+namespace+" to have their sizes", func() error {
		plans := s.plans(t, namespace)
		for _, p := range c.pods(t, namespace) {
			plan := plans[p.Name]
			switch {
			case plan == nil || plan.GetDecision() == workloadresizerv1.Decision_DECISION_RESIZE:
				return fmt.Errorf("pod %s: %v", p.Name, plan)
			case plan.GetDecision() == workloadresizerv1.Decision_DECISION_ALIGNED && p.Annotations["workload-resizer.io/applied-instance-type"] == "":
				return fmt.Errorf("pod %s is not annotated", p.Name)
			}
		}
		return nil
	})
}

// awaitEvent waits for an event on an object with this reason and a message that contains
// text.
func (c *cluster) awaitEvent(t *testing.T, namespace string, uid types.UID, reason, text string) {
	t.Helper()
	localcluster.Eventually(t, "event "+reason, func() error {
		list, err := c.client.CoreV1().Events(namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.uid=" + string(uid)})
		if err != nil {
			return err
		}
		var seen []string
		for _, e := range list.Items {
			if e.Reason == reason && strings.Contains(e.Message, text) {
				return nil
			}
			seen = append(seen, e.Reason+": "+e.Message)
		}
		return fmt.Errorf("events are %q", seen)
	})
}

// asContainer gives a program a session of its own: as in a container, the kernel schedules it apart from other tests.
// The threads of the node agent that measure have the lowest priority next to threads of the same session only.
var asContainer = &syscall.SysProcAttr{Setsid: true}

// run runs a built program and returns its exit code and output.
func run(t *testing.T, name string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	binary, err := localcluster.Binary(name)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), localcluster.Patience)
	defer cancel()
	var out, errOut strings.Builder
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = &out, &errOut, asContainer
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatalf("run %s: %v", filepath.Base(binary), err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errOut.String()
}
