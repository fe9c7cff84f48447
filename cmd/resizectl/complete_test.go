package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
)

// completions returns what a shell offers for the last word.
func completions(t *testing.T, name string, args ...string) []string {
	t.Helper()
	var out, errOut bytes.Buffer
	run(t.Context(), name, genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &errOut}, append([]string{"__complete"}, args...))
	lines := strings.Split(out.String(), "\n")
	return lines[:slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, ":") })]
}

func TestCompletions(t *testing.T) {
	t.Run("come from the server", comeFromTheServer)
	t.Run("come from the cluster of the kubeconfig", comeFromTheClusterOfTheKubeconfig)
	t.Run("are silent if nothing answers", areSilentIfNothingAnswers)
}

func comeFromTheServer(t *testing.T) {
	address := cmdtest.Answering(known()).Serve(t)
	got := completions(t, "resizectl", "explain", "--server", address, "")
	if want := "api-0"; !slices.Contains(got, want) {
		t.Errorf("got %q, want %q in it", got, want)
	}
	if got := completions(t, "resizectl", "explain", "--server", address, "default/"); !slices.Contains(got, "default/api-0") {
		t.Errorf("got %q, want the pods in the namespace", got)
	}
	if got, want := completions(t, "resizectl", "plan", "--server", address, "-n", ""), []string{"default", "shop"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want the namespaces %q", got, want)
	}
	for _, tc := range []struct {
		args, want []string
	}{
		{[]string{"workloads", "list", ""}, []string{"deployment/web", "statefulset/cart", "statefulset/db"}},
		{[]string{"history", "watch", "--kind", ""}, []string{"resize", "revert", "eviction", "breaker", "hold", "freeze", "override", "gap"}},
		{[]string{"workloads", "list", "--decision", ""}, []string{"resize", "aligned", "skip"}},
		{[]string{"workloads", "list", "--order-by", ""}, []string{"name", "pods", "reverts", "requested_cpu", "requested_memory", "saved_cpu", "saved_memory", "throttled"}},
	} {
		if got := completions(t, "resizectl", append([]string{tc.args[0], tc.args[1], "--server", address}, tc.args[2:]...)...); !slices.Equal(got, tc.want) {
			t.Errorf("%q: got %q, want %q", tc.args, got, tc.want)
		}
	}
	if got := completions(t, "resizectl", "nodes", "list", "--server", address, "--node-type", ""); len(got) != 3 || !strings.HasPrefix(got[0], "c3\t") {
		t.Errorf("got %q, want the node types", got)
	}
	if got := completions(t, "resizectl", "pause", "web", "--server", address, ""); len(got) > 0 {
		t.Errorf("a second pod is completed with %q", got)
	}
}

func comeFromTheClusterOfTheKubeconfig(t *testing.T) {
	cluster := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lists := map[string]string{
			"/api/v1/namespaces": `{"kind": "NamespaceList", "apiVersion": "v1", "items": [{"metadata": {"name": "bank"}}, {"metadata": {"name": "shop"}}]}`,
			"/api/v1/nodes":      `{"kind": "NodeList", "apiVersion": "v1", "items": [{"metadata": {"name": "node-1"}}]}`,
			"/api/v1/namespaces/shop/pods": `{"kind": "PodList", "apiVersion": "v1", "items": [
				{"metadata": {"name": "db-0", "ownerReferences": [{"kind": "StatefulSet", "name": "db", "controller": true}]}},
				{"metadata": {"name": "web-5b-x", "labels": {"pod-template-hash": "5b"}, "ownerReferences": [{"kind": "ReplicaSet", "name": "web-5b", "controller": true}]}},
				{"metadata": {"name": "bare"}}]}`,
		}
		if list, ok := lists[r.URL.Path]; ok && r.URL.Query().Get("limit") == "500" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(list))
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(cluster.Close)
	kubeconfig := cmdtest.File(t, "config", []byte(strings.ReplaceAll(unreachableCluster, "https://127.0.0.1:1", cluster.URL)))
	for _, tc := range []struct {
		args []string
		want []string
	}{
		{[]string{"plan", "-n", "shop", ""}, []string{"db-0", "web-5b-x", "bare", "deployment/web", "statefulset/db"}},
		{[]string{"pause", "-n", "shop", "deployment/"}, []string{"deployment/web", "statefulset/db"}},
		{[]string{"plan", "shop/"}, []string{"shop/db-0", "shop/web-5b-x", "shop/bare", "shop/deployment/web", "shop/statefulset/db"}},
		{[]string{"plan", "shop/deployment/"}, []string{"shop/deployment/web", "shop/statefulset/db"}},
		{[]string{"plan", "-n", ""}, []string{"bank", "shop"}},
		{[]string{"workloads", "list", "-n", "shop", ""}, []string{"deployment/web", "statefulset/db"}},
		{[]string{"workloads", "list", "-n", ""}, []string{"bank", "shop"}},
		{[]string{"history", "list", "-n", "shop", ""}, []string{"db-0", "web-5b-x", "bare", "deployment/web", "statefulset/db"}},
		{[]string{"history", "watch", "-n", ""}, []string{"bank", "shop"}},
		{[]string{"holds", "--namespace", ""}, []string{"bank", "shop"}},
		{[]string{"plan", "--node", ""}, []string{"node-1"}},
		{[]string{"plan", "--context", ""}, []string{"c"}},
		{[]string{"plan", "--user", ""}, []string{"u"}},
	} {
		if got := completions(t, pluginProgram, append([]string{"--kubeconfig", kubeconfig}, tc.args...)...); !slices.Equal(got, tc.want) {
			t.Errorf("%q: got %q, want %q", tc.args, got, tc.want)
		}
	}
}

func areSilentIfNothingAnswers(t *testing.T) {
	kubeconfig := cmdtest.File(t, "config", []byte(unreachableCluster))
	for _, args := range [][]string{{"explain", ""}, {"plan", "-n", ""}, {"plan", "--node", ""}, {"ratios", "get", ""}, {"workloads", "list", ""}, {"history", "list", ""}, {"nodes", "list", "--node-type", ""}} {
		if got := completions(t, pluginProgram, append([]string{"--kubeconfig", kubeconfig}, args...)...); len(got) > 0 {
			t.Errorf("%q: got %q", args, got)
		}
	}
}
