package lifecycle

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/monitoring"
	"github.com/workload-resizer/workload-resizer/test/cluster/internal/state"
)

// probeTimeout bounds one probe of a component.
const probeTimeout = 5 * time.Second

// prober checks whether components are ready.
type prober struct {
	cluster *state.Cluster
	client  *kubernetes.Clientset
	// aggregator is the same client, for the registrations of APIs.
	aggregator *aggregator.Clientset
	// plain trusts the cluster's authority. etcd trusts etcd's authority and has a client
	// certificate.
	plain *http.Client
	etcd  *http.Client
}

// newProber requires that the cluster's credentials have been written. The kubeconfig is
// the user's.
func newProber(cluster *state.Cluster, kubeconfig []byte) (*prober, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	config.QPS = -1
	config.Timeout = probeTimeout
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	plain, err := httpClient(cluster.Cert(state.CA))
	if err != nil {
		return nil, err
	}
	certificate, err := tls.LoadX509KeyPair(cluster.Cert(state.EtcdClient), cluster.Key(state.EtcdClient))
	if err != nil {
		return nil, fmt.Errorf("read etcd client certificate: %w", err)
	}
	etcd, err := httpClient(cluster.Cert(state.EtcdCA), certificate)
	if err != nil {
		return nil, err
	}
	registrations, err := aggregator.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &prober{cluster: cluster, client: client, aggregator: registrations, plain: plain, etcd: etcd}, nil
}

func httpClient(caFile string, certificates ...tls.Certificate) (*http.Client, error) {
	content, err := os.ReadFile(caFile)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(content) {
		return nil, fmt.Errorf("read %s: no certificate found", caFile)
	}
	return &http.Client{
		Timeout:   probeTimeout,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: certificates}},
	}, nil
}

// check returns nil if a component is ready. The API may still show the state of a node
// from before its restart: unless since is zero, the node must have renewed its lease
// after that time.
func (p *prober) check(ctx context.Context, component string, since time.Time) error {
	switch component {
	case state.Etcd:
		return get(ctx, p.etcd, localURL(p.cluster.Ports.EtcdClient, "/health"), `"health":"true"`)
	case state.APIServer:
		return get(ctx, p.plain, localURL(p.cluster.Ports.APIServer, "/readyz"), "ok")
	case state.ControllerManager:
		if err := get(ctx, p.plain, localURL(p.cluster.Ports.ControllerManager, "/healthz"), "ok"); err != nil {
			return err
		}
		_, err := p.client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return err
	case state.Scheduler:
		return get(ctx, p.plain, localURL(p.cluster.Ports.Scheduler, "/readyz"), "ok")
	case state.MetricsServer:
		return p.checkMetricsAPI(ctx)
	case state.Prometheus:
		return get(ctx, p.plain, p.cluster.PrometheusURL()+"/-/ready", "")
	}
	node, found := p.cluster.NodeOf(component)
	if !found {
		return fmt.Errorf("unknown component %s", component)
	}
	return p.checkNode(ctx, node.Name, since)
}

func localURL(port int, path string) string { return "https://" + localAddress(port) + path }

func get(ctx context.Context, client *http.Client, url, want string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
		return fmt.Errorf("%s: %s: %s", request.URL.Path, response.Status, strings.TrimSpace(string(body)))
	}
	return nil
}

// checkMetricsAPI returns nil if the API server forwards the metrics API. The first metrics
// follow a few seconds later.
func (p *prober) checkMetricsAPI(ctx context.Context) error {
	registration, err := p.aggregator.ApiregistrationV1().APIServices().Get(ctx, monitoring.APIService, metav1.GetOptions{})
	if err != nil {
		return err
	}
	for _, condition := range registration.Status.Conditions {
		if condition.Type == apiregistrationv1.Available {
			if condition.Status == apiregistrationv1.ConditionTrue {
				return nil
			}
			return fmt.Errorf("%s is not available: %s", monitoring.APIService, condition.Message)
		}
	}
	return fmt.Errorf("%s has no status yet", monitoring.APIService)
}

func (p *prober) checkNode(ctx context.Context, name string, since time.Time) error {
	node, err := p.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := nodeReady(node); err != nil || since.IsZero() {
		return err
	}
	lease, err := p.client.CoordinationV1().Leases(v1.NamespaceNodeLease).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if lease.Spec.RenewTime == nil || lease.Spec.RenewTime.Time.Before(since) {
		return errors.New("the node has not renewed its lease yet")
	}
	return nil
}

// nodeReady returns an error unless the node is ready and schedulable.
func nodeReady(node *v1.Node) error {
	if node.Spec.Unschedulable {
		return errors.New("the node is unschedulable")
	}
	for _, taint := range node.Spec.Taints {
		if strings.HasPrefix(taint.Key, "node.kubernetes.io/") {
			return fmt.Errorf("the node is tainted %s", taint.ToString())
		}
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == v1.NodeReady {
			if condition.Status == v1.ConditionTrue {
				return nil
			}
			return fmt.Errorf("the node is not ready: %s", condition.Message)
		}
	}
	return errors.New("the node has not reported yet")
}
