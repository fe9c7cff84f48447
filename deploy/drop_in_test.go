package deploy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

const published = "workload-resizer-controller-manager"

// TestDropIn replaces the published controller with workload-resizer.
func TestDropIn(t *testing.T) {
	t.Parallel()
	cluster := localcluster.ForTest(t, "n2d=2")
	admin := kubernetes.NewForConfigOrDie(cluster.Config())
	kubectl(t, "--kubeconfig", cluster.Kubeconfig, "apply", "-f", "testdata/published.yaml")
	before := rolledOut(t, admin, published)
	config, err := admin.CoreV1().ConfigMaps(Namespace).Get(t.Context(), ConfigMap, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// The controller has this Lease when it runs.
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "bc256639.workload-resizer.io"}}
	if _, err := admin.CoordinationV1().Leases(Namespace).Create(t.Context(), lease, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pods, err := admin.CoreV1().Pods(Namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	events, err := admin.CoreV1().Pods(Namespace).Watch(t.Context(), metav1.ListOptions{ResourceVersion: pods.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()

	kubectl(t, "--kubeconfig", cluster.Kubeconfig, "apply", "-k", "overlays/drop-in")
	after := rolledOut(t, admin, published)
	if after.UID != before.UID {
		t.Error("the Deployment was deleted and created again")
	}
	if containers := after.Spec.Template.Spec.Containers; len(containers) != 1 || containers[0].Name != "server" || len(containers[0].Command) > 0 {
		t.Errorf("the containers are %v", containers)
	}
	checkNeverBoth(t, pods.Items, events, *after.Spec.Replicas)

	for _, command := range commands(t, "overlays/drop-in/kustomization.yaml") {
		shell(t, cluster, command)
	}
	left := kubectl(t, "--kubeconfig", cluster.Kubeconfig, "get", "--no-headers", "-o", "name", "-n", Namespace, "serviceaccounts,services,roles,rolebindings,clusterroles,clusterrolebindings,leases")
	for _, name := range []string{published, "leader-election", "manager-role", "bc256639"} {
		if strings.Contains(left, name) {
			t.Errorf("%s still exists:\n%s", name, left)
		}
	}
	now, err := admin.CoreV1().ConfigMaps(Namespace).Get(t.Context(), ConfigMap, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if now.ResourceVersion != config.ResourceVersion {
		t.Errorf("the ConfigMap changed: got %v, want %v", now.Data, config.Data)
	}
	checkMoves(t, cluster, admin, after)
}

// checkMoves applies the base next to the overlay's Deployment, and then deletes that
// Deployment. In the meantime, both use the same Lease for leader election.
func checkMoves(t *testing.T, cluster *localcluster.Cluster, admin kubernetes.Interface, from *appsv1.Deployment) {
	kubectl(t, "--kubeconfig", cluster.Kubeconfig, "apply", "-k", "base")
	to := rolledOut(t, admin, "workload-resizer")
	if a, b := from.Spec.Template.Spec.Containers[0].Args, to.Spec.Template.Spec.Containers[0].Args; !slices.Equal(a, b) {
		t.Errorf("the overlay's arguments are %v, the base's are %v", a, b)
	}
	if to.Spec.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType {
		t.Errorf("the strategy is %s, want RollingUpdate", to.Spec.Strategy.Type)
	}
	kubectl(t, "--kubeconfig", cluster.Kubeconfig, "-n", Namespace, "delete", "deployment", published, "--cascade=foreground")
	pods, err := admin.CoreV1().Pods(Namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods.Items {
		if !strings.HasPrefix(pod.Name, "workload-resizer-") || strings.HasPrefix(pod.Name, published) {
			t.Errorf("pod %s still exists", pod.Name)
		}
	}
	if len(pods.Items) != int(*to.Spec.Replicas) {
		t.Errorf("got %d pods, want %d", len(pods.Items), *to.Spec.Replicas)
	}
	rolledOut(t, admin, "workload-resizer")
}

// rolledOut waits until a Deployment has all of its current pods, and no old ones.
func rolledOut(t *testing.T, admin kubernetes.Interface, name string) *appsv1.Deployment {
	t.Helper()
	var d *appsv1.Deployment
	localcluster.Eventually(t, name+" to be rolled out", func() (err error) {
		d, err = admin.AppsV1().Deployments(Namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		want, is := *d.Spec.Replicas, d.Status
		if is.ObservedGeneration != d.Generation || is.UpdatedReplicas != want || is.Replicas != want || is.AvailableReplicas != want {
			return fmt.Errorf("the status is %v", is)
		}
		return nil
	})
	return d
}

// checkNeverBoth follows the pods from a first list on, until as many of our pods as expected
// are ready. None of our pods may exist while a pod of the published controller may run.
func checkNeverBoth(t *testing.T, first []corev1.Pod, events watch.Interface, want int32) {
	t.Helper()
	there := map[string]*corev1.Pod{}
	for i := range first {
		there[first[i].Name] = &first[i]
	}
	if len(there) != 1 {
		t.Fatalf("the published controller has %d pods, want 1", len(there))
	}
	for event := range events.ResultChan() {
		pod, ok := event.Object.(*corev1.Pod)
		if !ok {
			t.Fatalf("the watch ended with %v", event.Object)
		}
		there[pod.Name] = pod
		if event.Type == watch.Deleted {
			delete(there, pod.Name)
		}
		theirs, ours, ready := 0, 0, int32(0)
		for _, pod := range there {
			switch {
			case pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed:
			case pod.Spec.Containers[0].Name == "manager":
				theirs++
			default:
				ours++
				if pod.Status.Phase == corev1.PodRunning {
					ready++
				}
			}
		}
		if theirs > 0 && ours > 0 {
			t.Fatalf("%d pods of the published controller and %d of our pods exist at the same time", theirs, ours)
		}
		if ready == want {
			return
		}
	}
	t.Fatal("the watch ended before all of our pods ran")
}
