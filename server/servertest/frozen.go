package servertest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/reconciler"
)

// Frozen serves pods and nodes that never change, and nothing else. It does not accept
// writes: in tests of the caches, the cluster decides nothing.
func Frozen(t testing.TB, pods []corev1.Pod, nodes []corev1.Node) *rest.Config {
	t.Helper()
	version := metav1.ListMeta{ResourceVersion: "1"}
	const noConfigMaps = "no ConfigMaps"
	lists := map[string]any{
		"/version":      map[string]string{"gitVersion": "v1.36.3"},
		"/api/v1/pods":  &corev1.PodList{ListMeta: version, Items: pods},
		"/api/v1/nodes": &corev1.NodeList{ListMeta: version, Items: nodes},
		"/api/v1/namespaces/" + Namespace + "/configmaps": &corev1.ConfigMapList{ListMeta: version, Items: []corev1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: HoldsName, ResourceVersion: "1"}}}},
		noConfigMaps:             &corev1.ConfigMapList{ListMeta: version},
		"/api/v1/limitranges":    &corev1.LimitRangeList{ListMeta: version},
		"/api/v1/resourcequotas": &corev1.ResourceQuotaList{ListMeta: version},
		"/apis/autoscaling/v2/horizontalpodautoscalers": map[string]any{"metadata": version, "items": []any{}},
		"/apis/policy/v1/poddisruptionbudgets":          &policyv1.PodDisruptionBudgetList{ListMeta: version},
	}
	bodies := map[string][]byte{}
	for path, list := range lists {
		body, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		bodies[path] = body
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.Path
		if selector := r.URL.Query().Get("fieldSelector"); strings.HasSuffix(path, "/configmaps") && selector != "metadata.name="+HoldsName {
			path = noConfigMaps
		}
		body, ok := bodies[path]
		switch {
		case !ok:
			http.NotFound(w, r)
		case r.URL.Query().Get("sendInitialEvents") != "":
			http.Error(w, "only lists", http.StatusUnprocessableEntity)
		case r.URL.Query().Get("watch") != "":
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done() // Nothing ever happens.
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(body)
		}
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return &rest.Config{Host: server.URL, QPS: -1}
}

// DryRun configures a reconciler that writes nothing.
func DryRun(c *reconciler.Config) { c.DryRun = true }

// ShopPods returns a cluster with one node of each type, neither of which has room for more,
// and pods that run there.
func ShopPods() ([]corev1.Pod, []corev1.Node) {
	list := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
	}
	node := func(name, nodeType string) corev1.Node {
		n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{nodetype.LabelGCPMachineFamily: nodeType}}}
		n.Status.Allocatable, n.Status.Capacity = list("3", "8Gi"), list("4", "16Gi")
		return n
	}
	yes := true
	pod := func(namespace, name, node, app string) corev1.Pod {
		return corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: namespace, Name: name, UID: types.UID(namespace + name), ResourceVersion: "1",
				Labels: map[string]string{"app": app, "pod-template-hash": "1"}, OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: app + "-1", Controller: &yes}},
			},
			Spec:   corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "app", Resources: corev1.ResourceRequirements{Requests: list("1", "1Gi"), Limits: list("2", "1Gi")}}}},
			Status: corev1.PodStatus{Phase: corev1.PodRunning, QOSClass: corev1.PodQOSBurstable},
		}
	}
	bare := pod("shop", "bare", "b", "bare")
	bare.OwnerReferences = nil
	return []corev1.Pod{pod("shop", "web-x", "a", "web"), pod("shop", "web-y", "b", "web"), pod("bank", "db", "b", "db"), bare}, []corev1.Node{node("a", "n2d"), node("b", "n4")}
}

// StartShop starts a dry-run reconciler on the cluster of ShopPods, and returns once its pods
// and nodes are known.
func StartShop(t testing.TB, of Setup) *Parts {
	t.Helper()
	pods, nodes := ShopPods()
	of.Cluster, of.Loop = Frozen(t, pods, nodes), DryRun
	return Start(t, of).Known(t)
}
