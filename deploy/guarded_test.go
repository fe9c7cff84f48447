package deploy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// guarded is a cluster with a policy that guards pods.
type guarded struct {
	config                 *rest.Config
	version                *version.Version
	admin, server, meddler kubernetes.Interface
	count                  int
}

// newGuarded returns a cluster with the base, a node, the policy, and other manifests.
func newGuarded(t *testing.T, policy ...[]byte) *guarded {
	t.Helper()
	cluster := localcluster.ForTest(t, "")
	config := cluster.Config()
	if err := localcluster.Apply(t.Context(), config, append(Base(), policy...)...); err != nil {
		t.Fatal(err)
	}
	g := &guarded{config: config, version: cluster.Version(), admin: kubernetes.NewForConfigOrDie(config), server: as(t, config, Namespace, ServiceAccount)}
	room := corev1.ResourceList{"cpu": resource.MustParse("1k"), "memory": resource.MustParse("1Ti"), "pods": resource.MustParse("1k")}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}, Status: corev1.NodeStatus{Allocatable: room, Capacity: room}}
	if _, err := g.admin.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return g
}

// awaitPolicy waits until a change to a pod is refused. The change differs each time, since
// one that changes nothing is never refused.
func (g *guarded) awaitPolicy(t *testing.T, change func(probe *corev1.Pod, n int) error) {
	t.Helper()
	probe := g.pod(t, "node")
	tries := 0
	localcluster.Eventually(t, "the policy to be in effect", func() error {
		tries++
		if err := change(probe, tries); !apierrors.IsForbidden(err) {
			return fmt.Errorf("it is not: %w", cmp.Or(err, errors.New("everything is allowed")))
		}
		return nil
	})
}

func as(t *testing.T, config *rest.Config, namespace, account string) kubernetes.Interface {
	t.Helper()
	path, err := localcluster.ServiceAccountKubeconfig(t.Context(), config, namespace, account, t.TempDir())
	return by(t, path, err)
}

// asMeddler creates a user who may write pods in every way except resizing them.
func asMeddler(t *testing.T, config *rest.Config) kubernetes.Interface {
	t.Helper()
	path, err := localcluster.MeddlerKubeconfig(t.Context(), config, metav1.NamespaceDefault, t.TempDir())
	return by(t, path, err)
}

// by returns a client for the user of a kubeconfig.
func by(t *testing.T, kubeconfig string, err error) kubernetes.Interface {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	own, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	own.QPS = -1
	return kubernetes.NewForConfigOrDie(own)
}

// patchPod patches a pod with the client. If manager is empty, the client's default field
// manager is used.
func patchPod(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, body, manager string, subresources ...string) error {
	_, err := client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, []byte(body), metav1.PatchOptions{FieldManager: manager}, subresources...)
	return err
}

// pod creates a pod that runs on the node, or that is pending if node is empty.
func (g *guarded) pod(t *testing.T, node string) *corev1.Pod {
	t.Helper()
	g.count++
	no := false
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("pod-%d", g.count)},
		Spec: corev1.PodSpec{NodeName: node, AutomountServiceAccountToken: &no, SchedulerName: "nobody",
			Containers: []corev1.Container{container("app", "1", "", "", "")}},
	}
	localcluster.Eventually(t, "the namespace's ServiceAccount", func() (err error) {
		made, err := g.admin.CoreV1().Pods(pod.Namespace).Create(t.Context(), pod, metav1.CreateOptions{})
		if err == nil {
			pod = made
		}
		return err
	})
	if node == "" {
		return pod
	}
	pod.Status.Phase = corev1.PodRunning
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", Resources: &pod.Spec.Containers[0].Resources, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	pod, err := g.admin.CoreV1().Pods(pod.Namespace).UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return pod
}

// sized returns a pod that the server resized.
func (g *guarded) sized(t *testing.T) *corev1.Pod {
	t.Helper()
	pod := g.pod(t, "node")
	for _, write := range []struct {
		body         string
		subresources []string
	}{
		{`{"metadata":{"annotations":{"` + contract.CPURequest.Key("app") + `":"1"}}}`, nil},
		{`{"spec":{"containers":[{"name":"app","resources":{"requests":{"cpu":"800m"}}}]}}`, []string{"resize"}},
		{`{"metadata":{"annotations":{"` + contract.AppliedInstanceType + `":"n4"}}}`, nil},
	} {
		if _, err := g.server.CoreV1().Pods(pod.Namespace).Patch(t.Context(), pod.Name, types.StrategicMergePatchType, []byte(write.body), metav1.PatchOptions{FieldManager: contract.FieldManager}, write.subresources...); err != nil {
			t.Fatal(err)
		}
	}
	return g.get(t, pod)
}

func (g *guarded) get(t *testing.T, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	pod, err := g.admin.CoreV1().Pods(pod.Namespace).Get(t.Context(), pod.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return pod
}
