package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// awayAtStart starts a server before its API server is reachable.
func (c *cluster) awayAtStart(t *testing.T) {
	proxy := localcluster.ProxyForTest(t, c.Config(), nil)
	if err := proxy.SetDown(true); err != nil {
		t.Fatal(err)
	}
	s := c.serve(t, c.serviceAccount(t, localcluster.WithServer(proxy.URL, proxy.CA)))
	awaitReadyz(t, s, http.StatusServiceUnavailable, "there are no valid ratios yet")
	awaitLog(t, s, "connection refused")
	if err := proxy.SetDown(false); err != nil {
		t.Fatal(err)
	}
	awaitReadyz(t, s, http.StatusOK, "ok")
}

// withoutRights starts a server as a ServiceAccount without rights.
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
	awaitReadyz(t, s, http.StatusServiceUnavailable, "there are no valid ratios yet")
	awaitLog(t, s, `cannot list resource "configmaps"`)
	awaitLog(t, s, `at the cluster scope`)
	if err := s.Stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
}

// flagForFlag starts a server with exactly the arguments of the Deployment. Only the
// ports differ, because the Deployment's ports may be in use on this machine.
func (c *cluster) flagForFlag(t *testing.T) {
	c.apply(t, promptConfig())
	t.Cleanup(func() {
		if err := c.client.CoreV1().ConfigMaps(deploy.Namespace).Delete(context.WithoutCancel(t.Context()), deploy.ConfigMap, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	s := c.start(t, localcluster.ServerOptions{}).ready(t)
	d, err := c.client.AppsV1().Deployments(deploy.Namespace).Get(t.Context(), "workload-resizer", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", s.PID()))
	if err != nil {
		t.Fatal(err)
	}
	want := append([]string{"/workload-resizer"}, d.Spec.Template.Spec.Containers[0].Args...)
	for of, address := range map[string]string{"--grpc-bind-address=:7443": s.GRPCAddress, "--http-bind-address=:8080": s.HTTPAddress} {
		i := slices.Index(want, of)
		if i < 0 {
			t.Fatalf("the Deployment's arguments are %q, without %s", want, of)
		}
		_, port, _ := net.SplitHostPort(address)
		want[i] = strings.TrimRight(of, "0123456789") + port
	}
	if got := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00"); !slices.Equal(got, want) {
		t.Errorf("the server runs as %q, want %q", got, want)
	}
	localcluster.Eventually(t, "the server to lead", func() error {
		if !leads(t, s) {
			return errors.New("it does not")
		}
		return nil
	})
	c.apply(t, deployment("flag-for-flag", "web"))
	t.Cleanup(func() {
		if err := c.client.CoreV1().Namespaces().Delete(context.WithoutCancel(t.Context()), "flag-for-flag", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	c.awaitCPU(t, "flag-for-flag", "web", "80m")
	if err := s.Stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
}
