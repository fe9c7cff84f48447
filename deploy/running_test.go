package deploy

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// TestRunning runs the base and an overlay with real controllers, scheduler and kubelets.
func TestRunning(t *testing.T) {
	t.Parallel()
	cluster := localcluster.ForTest(t, "n2d=2,n4=1")
	admin := kubernetes.NewForConfigOrDie(cluster.Config())
	for _, tc := range []struct {
		of   string
		pods int
	}{{"base", 2}, {"overlays/high-availability", 3}} {
		t.Run(tc.of+": each replica has its own node and is behind the Service", func(t *testing.T) {
			kubectl(t, "--kubeconfig", cluster.Kubeconfig, "apply", "-k", tc.of)
			rolledOut(t, admin, "workload-resizer")
			localcluster.Eventually(t, "the pods to be alone on their nodes and behind the Service", func() error {
				pods, nodes := serverPods(t, admin)
				if len(pods) != tc.pods || len(nodes) != tc.pods {
					return fmt.Errorf("%d pods are on %d nodes, want %d", len(pods), len(nodes), tc.pods)
				}
				return behind(t, admin, tc.pods)
			})
		})
		t.Run(tc.of+": only one replica at a time is evicted", func(t *testing.T) { checkDisruption(t, admin) })
	}
}

// serverPods returns the Deployment's pods, and the number of them on each node.
func serverPods(t *testing.T, admin kubernetes.Interface) ([]corev1.Pod, map[string]int) {
	t.Helper()
	list, err := admin.CoreV1().Pods(Namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/component=server"})
	if err != nil {
		t.Fatal(err)
	}
	nodes := map[string]int{}
	for _, pod := range list.Items {
		nodes[pod.Spec.NodeName]++
	}
	return list.Items, nodes
}

// behind returns an error unless that many ready pods are behind the Service, with both ports.
func behind(t *testing.T, admin kubernetes.Interface, want int) error {
	t.Helper()
	list, err := admin.DiscoveryV1().EndpointSlices(Namespace).List(t.Context(), metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=workload-resizer"})
	if err != nil {
		return err
	}
	ready := 0
	for _, slice := range list.Items {
		for _, port := range slice.Ports {
			if want := map[string]int32{"grpc": 7443, "http": 8080}[*port.Name]; *port.Port != want {
				t.Errorf("port %s is %d, want %d", *port.Name, *port.Port, want)
			}
		}
		for _, endpoint := range slice.Endpoints {
			if *endpoint.Conditions.Ready && len(slice.Ports) == 2 {
				ready++
			}
		}
	}
	if ready != want {
		return fmt.Errorf("%d pods are behind the Service, want %d", ready, want)
	}
	return nil
}

// checkDisruption evicts pods while no node accepts new ones, as if all nodes were drained at
// the same time.
func checkDisruption(t *testing.T, admin kubernetes.Interface) {
	cordon := func(drained bool) {
		t.Helper()
		nodes, err := admin.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, node := range nodes.Items {
			patch := fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, drained)
			if _, err := admin.CoreV1().Nodes().Patch(t.Context(), node.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	evict := func(pod string) error {
		return admin.PolicyV1().Evictions(Namespace).Evict(t.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod, Namespace: Namespace}})
	}
	pods, _ := serverPods(t, admin)
	cordon(true)
	localcluster.Eventually(t, "the first pod to be evicted", func() error { return evict(pods[0].Name) })
	if err := evict(pods[1].Name); !apierrors.IsTooManyRequests(err) || !strings.Contains(err.Error(), "disruption budget") {
		t.Errorf("evicting the second pod: got %v, want the disruption budget to refuse it", err)
	}
	cordon(false)
	rolledOut(t, admin, "workload-resizer")
	localcluster.Eventually(t, "the second pod to be evicted", func() error { return evict(pods[1].Name) })
	rolledOut(t, admin, "workload-resizer")
}
