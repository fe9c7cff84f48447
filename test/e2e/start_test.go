package e2e

import (
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// awayAtStart starts a server whose API server cannot be reached yet.
func (c *cluster) awayAtStart(t *testing.T) {
	proxy := localcluster.ProxyForTest(t, c.Config(), nil)
	if err := proxy.SetDown(true); err != nil {
		t.Fatal(err)
	}
	s := c.serve(t, c.serviceAccount(t, localcluster.WithServer(proxy.URL, proxy.CA)))
	awaitReadyz(t, s, http.StatusServiceUnavailable, "connection refused")
	awaitLog(t, s, "connection refused")
	if err := proxy.SetDown(false); err != nil {
		t.Fatal(err)
	}
	awaitReadyz(t, s, http.StatusOK, "ok")
}

// withoutRights starts a server as somebody who may do nothing.
func (c *cluster) withoutRights(t *testing.T) {
	nobody := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "nobody"}}
	if _, err := c.client.CoreV1().ServiceAccounts(deploy.Namespace).Create(t.Context(), nobody, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := localcluster.ServiceAccountKubeconfig(t.Context(), c.Config(), deploy.Namespace, nobody.Name, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := c.serve(t, kubeconfig)
	awaitReadyz(t, s, http.StatusServiceUnavailable, `cannot list resource "configmaps"`)
	awaitReadyz(t, s, http.StatusServiceUnavailable, `at the cluster scope`)
	if err := s.Stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
}
