package monitoring

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/state"
)

const (
	// APIService is the name of the API that metrics-server serves.
	APIService = "v1beta1.metrics.k8s.io"
	// MetricsServerHost is the host name of metrics-server, that of its Service.
	MetricsServerHost = state.MetricsServer + "." + metav1.NamespaceSystem + ".svc"
)

// MetricsServerArguments returns the command-line arguments of metrics-server.
func MetricsServerArguments(cluster *state.Cluster) []string {
	kubeconfig := cluster.Kubeconfig(state.MetricsServer)
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(cluster.Ports.MetricsServer),
		"--tls-cert-file=" + cluster.Cert(state.MetricsServer),
		"--tls-private-key-file=" + cluster.Key(state.MetricsServer),
		"--kubelet-certificate-authority=" + cluster.Cert(state.CA),
		"--kubelet-client-certificate=" + cluster.Cert(state.KubeletClient),
		"--kubelet-client-key=" + cluster.Key(state.KubeletClient),
		"--kubelet-preferred-address-types=InternalIP",
		"--kubelet-use-node-status-port",
		// The shortest resolution that it accepts, and a timeout that fits.
		"--metric-resolution=10s",
		"--kubelet-request-timeout=5s",
		"--profiling=false",
	}
}

// registerRetry is how often a failed registration is tried again. The API server may be
// starting at the same time.
const registerRetry = 100 * time.Millisecond

// Register makes the API server forward the metrics API to metrics-server. It returns when that
// is done or the context ends.
func Register(ctx context.Context, cluster *state.Cluster) error {
	config, err := clientcmd.BuildConfigFromFlags("", cluster.Kubeconfig(state.MetricsServer))
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	registrations, err := aggregator.NewForConfig(config)
	if err != nil {
		return err
	}
	authority, err := os.ReadFile(cluster.Cert(state.CA))
	if err != nil {
		return err
	}
	var failure error
	err = wait.PollUntilContextCancel(ctx, registerRetry, true, func(ctx context.Context) (bool, error) {
		_, failure = client.CoreV1().Services(metav1.NamespaceSystem).Create(ctx, service(), metav1.CreateOptions{})
		if failure == nil || apierrors.IsAlreadyExists(failure) {
			_, failure = registrations.ApiregistrationV1().APIServices().Create(ctx, apiService(cluster, authority), metav1.CreateOptions{})
		}
		return failure == nil || apierrors.IsAlreadyExists(failure), nil
	})
	if err != nil {
		return fmt.Errorf("register %s: %w", APIService, failure)
	}
	return nil
}

// service names this machine. Services with endpoints are impossible, since endpoints must not
// be loopback addresses.
func service() *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: state.MetricsServer, Namespace: metav1.NamespaceSystem},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
	}
}

func apiService(cluster *state.Cluster, authority []byte) *apiregistrationv1.APIService {
	return &apiregistrationv1.APIService{
		ObjectMeta: metav1.ObjectMeta{Name: APIService},
		Spec: apiregistrationv1.APIServiceSpec{
			Group:   "metrics.k8s.io",
			Version: "v1beta1",
			Service: &apiregistrationv1.ServiceReference{
				Name: state.MetricsServer, Namespace: metav1.NamespaceSystem, Port: new(int32(cluster.Ports.MetricsServer)),
			},
			CABundle:             authority,
			GroupPriorityMinimum: 100,
			VersionPriority:      100,
		},
	}
}
