package localcluster_test

import (
	"context"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func TestOnACluster(t *testing.T) {
	cluster := localcluster.ForTest(t, "")
	manifests := append(deploy.Base(), deploy.SampleConfig(), deploy.SampleWorkloads())
	for _, when := range []string{"new", "unchanged"} {
		if err := localcluster.Apply(t.Context(), cluster.Config(), manifests...); err != nil {
			t.Fatalf("%s manifests: %v", when, err)
		}
	}
	t.Run("applies a bare pod to a new namespace", func(t *testing.T) { testBarePod(t, cluster) })
	t.Run("restricts the server's ServiceAccount", func(t *testing.T) { testServiceAccount(t, cluster) })
	t.Run("has the expected version", func(t *testing.T) { testVersion(t, cluster) })
	t.Run("runs a server", func(t *testing.T) { testServer(t, cluster) })
	t.Run("stops and starts components", func(t *testing.T) { testComponents(t, cluster) })
}

func testBarePod(t *testing.T, cluster *localcluster.Cluster) {
	err := localcluster.Apply(t.Context(), cluster.Config(), []byte(`
apiVersion: v1
kind: Pod
metadata: {name: bare, namespace: brand-new}
spec: {containers: [{name: app, image: none}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: brand-new}
`))
	if err != nil {
		t.Error(err)
	}
}

// testServiceAccount checks what the manifests allow the server to do.
func testServiceAccount(t *testing.T, cluster *localcluster.Cluster) {
	client := newClient(t, serverAccount(t, cluster))
	everywhere, own := client.CoreV1(), client.CoreV1().ConfigMaps(deploy.Namespace)
	config := metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, deploy.ConfigMap).String()}
	patch := func(subresources ...string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := everywhere.Pods(deploy.SampleNamespace).Patch(ctx, "bare", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{}, subresources...)
			return err
		}
	}
	for _, test := range []struct {
		name    string
		try     func(context.Context) error
		allowed bool
	}{
		{"list pods of all namespaces", func(ctx context.Context) error {
			_, err := everywhere.Pods("").List(ctx, metav1.ListOptions{})
			return err
		}, true},
		{"list nodes", func(ctx context.Context) error {
			_, err := everywhere.Nodes().List(ctx, metav1.ListOptions{})
			return err
		}, true},
		{"patch pods", patch(), true},
		{"resize pods", patch("resize"), true},
		{"create events", func(ctx context.Context) error {
			_, err := everywhere.Events(deploy.SampleNamespace).Create(ctx, &corev1.Event{
				ObjectMeta:     metav1.ObjectMeta{GenerateName: "test-"},
				InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: deploy.SampleNamespace, Name: "bare"},
			}, metav1.CreateOptions{})
			return err
		}, true},
		{"list its ConfigMap", func(ctx context.Context) error { _, err := own.List(ctx, config); return err }, true},
		{"watch its ConfigMap", func(ctx context.Context) error {
			w, err := own.Watch(ctx, config)
			if err == nil {
				w.Stop()
			}
			return err
		}, true},
		{"list all ConfigMaps of its namespace", func(ctx context.Context) error { _, err := own.List(ctx, metav1.ListOptions{}); return err }, false},
		{"list a ConfigMap in another namespace", func(ctx context.Context) error {
			_, err := everywhere.ConfigMaps(deploy.SampleNamespace).List(ctx, config)
			return err
		}, false},
		{"write its ConfigMap", func(ctx context.Context) error {
			_, err := own.Patch(ctx, deploy.ConfigMap, types.MergePatchType, []byte(`{}`), metav1.PatchOptions{})
			return err
		}, false},
		{"list secrets", func(ctx context.Context) error {
			_, err := everywhere.Secrets("").List(ctx, metav1.ListOptions{})
			return err
		}, false},
		{"delete pods", func(ctx context.Context) error {
			return everywhere.Pods(deploy.SampleNamespace).Delete(ctx, "bare", metav1.DeleteOptions{})
		}, false},
		{"patch the status of pods", patch("status"), false},
		{"patch nodes", func(ctx context.Context) error {
			_, err := everywhere.Nodes().Patch(ctx, "any", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{})
			return err
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			// New roles take effect after a moment.
			eventually(t, func() string {
				err := test.try(t.Context())
				if apierrors.IsForbidden(err) == test.allowed {
					return "got " + errorText(err)
				}
				if test.allowed && err != nil {
					return errorText(err)
				}
				return ""
			})
		})
	}
}

// testServer runs a server behind a proxy, as its own ServiceAccount.
func testServer(t *testing.T, cluster *localcluster.Cluster) {
	proxy := localcluster.ProxyForTest(t, cluster.Config(), nil)
	kubeconfig, err := localcluster.ServiceAccountKubeconfig(t.Context(), cluster.Config(), deploy.Namespace, deploy.ServiceAccount, t.TempDir(),
		localcluster.WithServer(proxy.URL, proxy.CA))
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(kubeconfig); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("kubeconfig: %v, %v, want mode 0600", info.Mode(), err)
	}
	server := localcluster.ServerForTest(t, localcluster.ServerOptions{Kubeconfig: kubeconfig})
	ready, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := server.WaitReady(ready); err != nil {
		t.Fatal(err)
	}
	if status, body, err := server.Readyz(t.Context()); err != nil || status != http.StatusOK || !strings.HasPrefix(body, "ok") {
		t.Errorf("readyz: %d %q, %v", status, body, err)
	}
	if !strings.Contains(server.Log(), "Caches synced") {
		t.Errorf("log: %q", server.Log())
	}
	if err := server.Stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	if _, _, err := server.Readyz(t.Context()); err == nil {
		t.Error("the server responds after Stop")
	}

	var log lines
	ctx, end := context.WithCancel(t.Context())
	second, err := localcluster.StartServer(ctx, localcluster.ServerOptions{Kubeconfig: kubeconfig, Args: []string{"--dry-run"}, Log: &log})
	if err != nil {
		t.Fatal(err)
	}
	if err := second.WaitReady(ready); err != nil {
		t.Error(err)
	}
	end()
	select {
	case <-second.Done():
	case <-time.After(30 * time.Second):
		t.Error("the server still runs after its context is done")
	}
	if log.n.Load() == 0 {
		t.Error("the server did not log to the writer")
	}

	third, err := localcluster.StartServer(t.Context(), localcluster.ServerOptions{Kubeconfig: "/does/not/exist"})
	if err != nil {
		t.Fatal(err)
	}
	if err := third.WaitReady(ready); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("wait for a server that ended: got %v", err)
	}
	if err := third.Kill(); err != nil {
		t.Errorf("kill a server that ended: %v", err)
	}
}

// lines counts writes.
type lines struct{ n atomic.Int32 }

func (l *lines) Write(p []byte) (int, error) {
	l.n.Add(1)
	return len(p), nil
}

func testComponents(t *testing.T, cluster *localcluster.Cluster) {
	ctx := t.Context()
	if err := cluster.Stop(ctx, "kube-apiserver"); err != nil {
		t.Fatal(err)
	}
	client := newClient(t, cluster.Config())
	if _, err := client.Discovery().ServerVersion(); err == nil {
		t.Error("the API server responds while it is stopped")
	}
	if dead, err := cluster.Dead(ctx); err != nil || len(dead) > 0 {
		t.Errorf("dead: %v, %v; a stopped component is not dead", dead, err)
	}
	if err := cluster.Start(ctx, "kube-apiserver"); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Discovery().ServerVersion(); err != nil {
		t.Errorf("after the API server was started again: %v", err)
	}
	if _, err := os.Stat(cluster.LogFile("kube-apiserver")); err != nil {
		t.Error(err)
	}
	if err := cluster.Stop(ctx, "no-such-component"); err == nil || !strings.Contains(err.Error(), "no-such-component") {
		t.Errorf("stop an unknown component: %v", err)
	}
}

func TestCluster(t *testing.T) {
	t.Run("an interrupted start leaves nothing behind", anInterruptedStartLeavesNothingBehind)
}

func anInterruptedStartLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir() + "/cluster"
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := localcluster.Up(ctx, localcluster.Options{Dir: dir}); err == nil {
		t.Fatal("the cluster started within a second")
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the cluster's directory: %v, want none", err)
	}
}

func serverAccount(t *testing.T, cluster *localcluster.Cluster) *rest.Config {
	t.Helper()
	path, err := localcluster.ServiceAccountKubeconfig(t.Context(), cluster.Config(), deploy.Namespace, deploy.ServiceAccount, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func newClient(t *testing.T, config *rest.Config) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// eventually fails the test unless problem returns "" soon.
func eventually(t *testing.T, problem func() string) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		last := problem()
		if last == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Error(last)
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func errorText(err error) string {
	if err == nil {
		return "no error"
	}
	return err.Error()
}
