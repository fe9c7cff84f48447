package statuswriter_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/test/statuswriter"
)

const (
	namespace = metav1.NamespaceDefault
	// played and old are nodes that the writer plays; it does not play ignored. The clock of
	// old is behind.
	played, old, ignored = "played", "old", "ignored"
	behind               = 3 * time.Second
)

// suite is a control plane on which the writer plays nodes.
type suite struct {
	cluster *localcluster.Cluster
	client  kubernetes.Interface
	writer  *statuswriter.Writer
	// outcomes are the outcomes of resizes, by pod name.
	outcomes sync.Map
}

func TestStatusWriter(t *testing.T) {
	s := &suite{cluster: localcluster.ForTest(t, "")}
	s.client = kubernetes.NewForConfigOrDie(s.cluster.Config())
	s.node(t, played, "")
	s.node(t, old, "v1.33.13")
	s.node(t, ignored, "")
	s.writer = statuswriter.Start(t, s.cluster.Config(), statuswriter.Options{
		Nodes:  []string{played, old},
		Behind: map[string]time.Duration{old: behind},
		Outcome: func(pod *corev1.Pod) statuswriter.Outcome {
			outcome, found := s.outcomes.Load(pod.Name)
			if !found {
				return statuswriter.Outcome{}
			}
			return outcome.(statuswriter.Outcome)
		},
	})
	t.Run("starts pods with their sizes", s.starts)
	t.Run("ignores pods on other nodes and unscheduled pods", s.leavesAlone)
	t.Run("writes the outcome of a resize", s.outcome)
	t.Run("actuates a waiting resize once its outcome changes", s.reconsiders)
	t.Run("lets a resize wait while another is in progress", s.waitsBehind)
	t.Run("resizes sidecars", s.sidecar)
	t.Run("writes the generation of the sizes into a condition", s.generations)
	t.Run("writes transition and probe times into a condition", s.times)
	t.Run("plays an old kubelet without generations and with a late clock", s.oldKubelet)
	t.Run("deletes terminating pods", s.deletes)
	t.Run("handles many pods that other clients write, too", s.many)
	t.Run("continues after the API server was unavailable", s.outage) // Last: it ends every watch.
}

func (s *suite) starts(t *testing.T) {
	s.create(t, "starts", played)
	pod := s.await(t, "starts", "run", all(running, has("1", "1"), s.observed, saying(nil)))
	for _, kind := range []corev1.PodConditionType{corev1.PodReady, corev1.ContainersReady, corev1.PodInitialized, corev1.PodScheduled} {
		found := false
		for _, c := range pod.Status.Conditions {
			found = found || c.Type == kind && c.Status == corev1.ConditionTrue && !c.LastTransitionTime.IsZero()
		}
		if !found {
			t.Errorf("%s is not true: %v", kind, pod.Status.Conditions)
		}
	}
	app, first, sidecar := pod.Status.ContainerStatuses[0], pod.Status.InitContainerStatuses[0], pod.Status.InitContainerStatuses[1]
	for name, running := range map[string]corev1.ContainerStatus{"app": app, "sidecar": sidecar} {
		if running.Name != name || running.State.Running == nil || !running.Ready || running.Started == nil || !*running.Started {
			t.Errorf("container %s is not running: %+v", name, running)
		}
	}
	if first.State.Terminated == nil || first.State.Terminated.ExitCode != 0 {
		t.Errorf("the first init container has not completed: %+v", first)
	}
	if pod.Status.StartTime == nil {
		t.Error("the pod has no start time")
	}
}

func (s *suite) leavesAlone(t *testing.T) {
	before := []*corev1.Pod{s.create(t, "elsewhere", ignored), s.create(t, "nowhere", "")}
	s.create(t, "later", played)
	s.await(t, "later", "run", running)
	for _, pod := range before {
		after, err := s.client.CoreV1().Pods(namespace).Get(t.Context(), pod.Name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if after.Status.Phase != corev1.PodPending || len(after.Status.ContainerStatuses) > 0 {
			t.Errorf("%s: %+v", pod.Name, after.Status)
		}
	}
}

func (s *suite) sidecar(t *testing.T) {
	s.create(t, "with-sidecar", played)
	s.await(t, "with-sidecar", "run", running)
	patch := []byte(`{"spec":{"initContainers":[{"name":"sidecar","resources":{"requests":{"cpu":"3"}}}]}}`)
	if _, err := s.client.CoreV1().Pods(namespace).Patch(t.Context(), "with-sidecar", types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "resize"); err != nil {
		t.Fatal(err)
	}
	s.await(t, "with-sidecar", "be resized", func(pod *corev1.Pod) error {
		status := pod.Status.InitContainerStatuses[1]
		if want := list("3", "64Mi"); !equality.Semantic.DeepEqual(status.Resources.Requests, want) || !equality.Semantic.DeepEqual(status.AllocatedResources, want) {
			return fmt.Errorf("resources %v, allocated %v", status.Resources, status.AllocatedResources)
		}
		return nil
	})
}

func (s *suite) deletes(t *testing.T) {
	s.create(t, "deleted", played)
	s.await(t, "deleted", "run", running)
	if err := s.client.CoreV1().Pods(namespace).Delete(t.Context(), "deleted", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	localcluster.Eventually(t, "the pod to be deleted", func() error {
		_, err := s.client.CoreV1().Pods(namespace).Get(t.Context(), "deleted", metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("the pod still exists: %w", err)
		}
		return nil
	})
}

func (s *suite) outage(t *testing.T) {
	for _, do := range []func(context.Context, string) error{s.cluster.Stop, s.cluster.Start} {
		if err := do(t.Context(), "kube-apiserver"); err != nil {
			t.Fatal(err)
		}
	}
	s.create(t, "after", played)
	s.await(t, "after", "run", running)
	s.mustResize(t, "after", "2")
	s.await(t, "after", "be resized", has("2", "2"))
}
