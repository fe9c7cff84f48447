package server

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/workload-resizer/workload-resizer/reconciler"
)

// frozen serves pods and nodes that never change, and nothing else, not even
// writes: the cluster decides nothing in tests of what is asked of the caches.
func frozen(t testing.TB, pods []corev1.Pod, nodes []corev1.Node) *rest.Config {
	t.Helper()
	version := metav1.ListMeta{ResourceVersion: "1"}
	lists := map[string]any{
		"/version":      map[string]string{"gitVersion": "v1.36.3"},
		"/api/v1/pods":  &corev1.PodList{ListMeta: version, Items: pods},
		"/api/v1/nodes": &corev1.NodeList{ListMeta: version, Items: nodes},
		"/api/v1/namespaces/" + holdsNamespace + "/configmaps": &corev1.ConfigMapList{ListMeta: version, Items: []corev1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{Namespace: holdsNamespace, Name: holdsName, ResourceVersion: "1"}}}},
		"/api/v1/limitranges":                           &corev1.LimitRangeList{ListMeta: version},
		"/api/v1/resourcequotas":                        &corev1.ResourceQuotaList{ListMeta: version},
		"/apis/autoscaling/v2/horizontalpodautoscalers": map[string]any{"metadata": version, "items": []any{}},
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
		body, ok := bodies[r.URL.Path]
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

// startOn starts a server of a frozen cluster, and returns when it is known.
func startOn(t testing.TB, cluster *rest.Config, of setup) *running {
	t.Helper()
	of.cluster, of.loop = cluster, dryRun
	return start(t, of).known(t)
}

func dryRun(c *reconciler.Config) { c.DryRun = true }
