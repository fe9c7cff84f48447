package monitoring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func TestLive(t *testing.T) {
	t.Parallel()
	t.Run("a real Prometheus monitors a real server", aRealPrometheusMonitorsARealServer)
}

// The steps run in order on one cluster: they break the server, and repair it.
func aRealPrometheusMonitorsARealServer(t *testing.T) {
	s := newScene(t)
	t.Run("Prometheus scrapes the server", s.scraped)
	t.Run("metrics match GetStatus and the pods", s.figures)
	t.Run("alerts and dashboard use existing metrics", s.queries)
	t.Run("only the certificate alert fires on a healthy server", s.quiet)
	t.Run("an alert fires for an invalid ConfigMap", s.brokenConfig)
	t.Run("alerts fire for a killed server", s.killed)
	t.Run("an alert fires for a Lease with another holder", s.leaderless)
	t.Run("an alert fires for an API server that gets no answers", s.unreached) // It fires for minutes.
}

// scene is a cluster, a server in it, and a Prometheus that scrapes that server.
type scene struct {
	cluster *localcluster.Cluster
	client  kubernetes.Interface
	server  *localcluster.Server
	// options restart the server at the same addresses.
	options    localcluster.ServerOptions
	api        *client.Client
	prometheus promv1.API
	// whole is the parent test of the steps: a server that a step starts keeps running
	// after the step.
	whole *testing.T
}

func newScene(t *testing.T) *scene {
	cluster := localcluster.ForTest(t, "n2d=1,n4=1,c3=1")
	s := &scene{cluster: cluster, client: kubernetes.NewForConfigOrDie(cluster.Config()), whole: t}
	s.apply(t, append(deploy.Base(), deploy.SampleConfig(), deploy.SampleWorkloads())...)
	s.apply(t, deploy.SizeAtCreation()...)
	kubeconfig, err := localcluster.ServiceAccountKubeconfig(t.Context(), cluster.Config(), deploy.Namespace, deploy.ServiceAccount, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	// It expires within a day, so an alert fires.
	cert, err := localcluster.ServingCertificate(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s.publish(t, cert)
	s.options = localcluster.ServerOptions{Kubeconfig: kubeconfig, Args: []string{
		"--tls-cert-file", cert.CertFile, "--tls-private-key-file", cert.KeyFile,
		"--client-ca-file", filepath.Join(cluster.Dir, "pki", "ca.crt"),
		"--size-at-creation", "--webhook-bind-address", "127.0.0.1:0", // The API server cannot reach it, but the metrics exist.
		"--usage-interval", "10s", // Some metrics exist only after the first read of a source of usage.
	}}
	s.serve()
	s.options.GRPCAddress, s.options.HTTPAddress = s.server.GRPCAddress, s.server.HTTPAddress
	s.dial(t, cert)
	s.prometheus = localcluster.PrometheusForTest(t, s.configuration(t))
	localcluster.Eventually(t, "the API server to accept where it asks for sizes at creation", func() error {
		configuration, err := s.client.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(t.Context(), "workload-resizer-size-at-creation", metav1.GetOptions{})
		if err == nil && configuration.Webhooks[0].ClientConfig.Service.Path == nil {
			err = errors.New("the server has written no path")
		}
		return err
	})
	return s
}

func (s *scene) apply(t *testing.T, manifests ...[]byte) {
	t.Helper()
	if err := localcluster.Apply(t.Context(), s.cluster.Config(), manifests...); err != nil {
		t.Fatal(err)
	}
}

// publish publishes the authority of a certificate, as its owner must: the API server verifies the server by it.
func (s *scene) publish(t *testing.T, cert localcluster.Certificate) {
	t.Helper()
	authority, err := os.ReadFile(cert.CertFile)
	if err != nil {
		t.Fatal(err)
	}
	patch, err := json.Marshal(map[string]any{"data": map[string]string{"ca.crt": string(authority)}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.client.CoreV1().ConfigMaps(deploy.Namespace).Patch(t.Context(), "workload-resizer-ca", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// serve starts the server and waits until it is ready.
func (s *scene) serve() {
	s.whole.Helper()
	s.server = localcluster.ServerForTest(s.whole, s.options)
	ctx, cancel := context.WithTimeout(s.whole.Context(), localcluster.Patience)
	defer cancel()
	if err := s.server.WaitReady(ctx); err != nil {
		s.whole.Fatal(err)
	}
}

// dial calls the server as the cluster's administrator.
func (s *scene) dial(t *testing.T, cert localcluster.Certificate) {
	t.Helper()
	admin := s.cluster.Config().TLSClientConfig
	certFile, keyFile := filepath.Join(t.TempDir(), "admin.crt"), filepath.Join(t.TempDir(), "admin.key")
	if err := errors.Join(os.WriteFile(certFile, admin.CertData, 0o600), os.WriteFile(keyFile, admin.KeyData, 0o600)); err != nil {
		t.Fatal(err)
	}
	var err error
	s.api, err = client.Dial(s.server.GRPCAddress, client.WithCAFile(cert.CertFile), client.WithClientCertificate(certFile, keyFile))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.api.Close() })
}

// configuration writes the configuration of Prometheus, with alerts that wait only for seconds,
// and returns its directory.
func (s *scene) configuration(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	_, rules := file(t, "deploy", "monitoring", "alerts.yaml")
	hasty := regexp.MustCompile(`(?m)^( +for:) .*$`).ReplaceAll(rules, []byte("$1 2s"))
	config := fmt.Sprintf(`
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [alerts.yaml]
scrape_configs:
- job_name: workload-resizer
  static_configs: [{targets: [%q]}]
`, s.options.HTTPAddress)
	admin := s.cluster.Config()
	config += fmt.Sprintf(`- job_name: apiserver
  scheme: https
  tls_config: {ca_file: ca.crt, cert_file: admin.crt, key_file: admin.key}
  static_configs: [{targets: [%q]}]
`, strings.TrimPrefix(admin.Host, "https://"))
	for name, content := range map[string][]byte{
		"alerts.yaml": hasty, "prometheus.yml": []byte(config), "ca.crt": admin.CAData, "admin.crt": admin.CertData, "admin.key": admin.KeyData,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
