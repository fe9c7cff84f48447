package main_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

func TestNodesThatDiffer(t *testing.T) {
	t.Parallel()
	client := up(t, newDir(t), "--node-cpu", "4", "--nodes", "n4=1,n4=1:cpu-manager=static,=1:kubelet=1.33.13")
	t.Run("a static CPU manager refuses only CPU resizes of Guaranteed pods", func(t *testing.T) { testStaticCPUManager(t, client) })
	t.Run("an older kubelet behaves like its version", func(t *testing.T) { testOldKubelet(t, client) })
}

func testStaticCPUManager(t *testing.T, client kubernetes.Interface) {
	small, larger := resources("1", "64Mi", "1", "64Mi"), resources("2", "64Mi", "2", "64Mi")
	for _, node := range []string{"n4-0", "n4-1"} {
		createOn(t, client, node, "guaranteed-"+node, small)
		createOn(t, client, node, "burstable-"+node, resources("1", "64Mi", "", ""))
		resize(t, client, "burstable-"+node, "main", resources("1500m", "64Mi", "", ""))
		awaitResized(t, client, "burstable-"+node, "main", resources("1500m", "64Mi", "", ""))
		resize(t, client, "guaranteed-"+node, "main", larger)
	}
	awaitResized(t, client, "guaranteed-n4-0", "main", larger)

	const pod = "guaranteed-n4-1"
	refused := awaitCondition(t, client, pod, corev1.PodResizePending, corev1.PodReasonInfeasible)
	if want := `Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"`; refused.Message != want {
		t.Errorf("the kubelet reports %q, want %q", refused.Message, want)
	}
	moreMemory := resources("1", "128Mi", "1", "128Mi")
	resize(t, client, pod, "main", moreMemory)
	awaitResized(t, client, pod, "main", moreMemory)
}

func testOldKubelet(t *testing.T, client kubernetes.Interface) {
	for name, want := range map[string]string{"n4-0": kubernetesVersion, "node-0": "v1.33.13"} {
		node, err := client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := node.Status.NodeInfo.KubeletVersion; got != want {
			t.Errorf("%s reports kubelet version %s, want %s", name, got, want)
		}
		if declares := len(node.Status.DeclaredFeatures) > 0; declares != (want == kubernetesVersion) {
			t.Errorf("%s declares the features %v", name, node.Status.DeclaredFeatures)
		}
	}

	// The old kubelet reports no generations, and resizes nevertheless.
	const pod = "on-old"
	createOn(t, client, "node-0", "neighbor", resources("2", "64Mi", "", ""))
	createOn(t, client, "node-0", pod, resources("1", "64Mi", "", ""))
	resize(t, client, pod, "main", resources("3", "64Mi", "", ""))
	deferred := awaitCondition(t, client, pod, corev1.PodResizePending, corev1.PodReasonDeferred)
	if deferred.ObservedGeneration != 0 {
		t.Errorf("the condition names generation %d", deferred.ObservedGeneration)
	}
	fits := resources("2", "64Mi", "", "")
	resize(t, client, pod, "main", fits)
	eventually(t, 30*time.Second, func(ctx context.Context) error {
		pod, err := client.CoreV1().Pods(namespace).Get(ctx, pod, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if got := pod.Status.ObservedGeneration; got != 0 {
			t.Errorf("the status names generation %d", got)
		}
		return sameResources(pod.Status.ContainerStatuses[0].Resources, fits)
	})
}

// createOn creates a pod on a node and waits until it runs.
func createOn(t *testing.T, client kubernetes.Interface, node, name string, resources corev1.ResourceRequirements) {
	t.Helper()
	template := newTemplate(name, resources)
	template.Spec.NodeName = node
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	pod.Name = name
	if _, err := client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitPod(t, client, name)
}
