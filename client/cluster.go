package client

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	discoveryv1client "k8s.io/client-go/kubernetes/typed/discovery/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	// DefaultNamespace and DefaultService name the Service that DialCluster connects
	// to by default.
	DefaultNamespace = "workload-resizer-system"
	DefaultService   = "workload-resizer"
	// DefaultAudience is the audience that tokens must be for.
	DefaultAudience = "workload-resizer.io"
	// AuthorityConfigMap and AuthorityKey are the ConfigMap, in the namespace of the
	// server, and its key with the authority of the server's certificate.
	AuthorityConfigMap = "workload-resizer-ca"
	AuthorityKey       = "ca.crt"
)

// clusterOptions are the options of DialCluster only.
type clusterOptions struct {
	service        types.NamespacedName
	serviceAccount types.NamespacedName
	audience       string
	// audienceGiven means that an option names the audience.
	audienceGiven bool
	given         bool
}

func defaultClusterOptions() clusterOptions {
	return clusterOptions{
		service:  types.NamespacedName{Namespace: DefaultNamespace, Name: DefaultService},
		audience: DefaultAudience,
	}
}

func (o *clusterOptions) unused() error {
	if o.given {
		return errors.New("WithService, WithServiceAccountToken and WithTokenAudience are for DialCluster only")
	}
	return nil
}

// WithService names the Service of the server, instead of DefaultNamespace and
// DefaultService. It is for DialCluster only.
func WithService(namespace, name string) Option {
	return func(o *options) {
		o.cluster.given, o.cluster.service = true, types.NamespacedName{Namespace: namespace, Name: name}
	}
}

// WithServiceAccountToken authenticates as a ServiceAccount, by requested tokens that live
// for 15 minutes. The user who dials needs the right to create serviceaccounts/token for
// it. It is for DialCluster only.
func WithServiceAccountToken(namespace, name string) Option {
	return func(o *options) {
		o.cluster.given, o.cluster.serviceAccount = true, types.NamespacedName{Namespace: namespace, Name: name}
	}
}

// WithTokenAudience sets the audience of the tokens of WithServiceAccountToken and the
// kubeconfig, instead of DefaultAudience. It also sends a kubeconfig token that names no
// audience because it is not a JSON Web Token: use it only for a server that you trust
// with such a token. It is for DialCluster only.
func WithTokenAudience(audience string) Option {
	return func(o *options) {
		o.cluster.given, o.cluster.audience, o.cluster.audienceGiven = true, audience, audience != ""
	}
}

// Kubeconfig returns the configuration for a cluster, found as kubectl finds it: in the
// file at path or, if path is empty, in $KUBECONFIG, ~/.kube/config or the pod that this
// program runs in. kubeContext selects a context; empty selects the current one.
func Kubeconfig(path, kubeContext string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = path
	overrides := &clientcmd.ConfigOverrides{CurrentContext: kubeContext}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	return config, nil
}

// DialCluster returns a client of the server that runs in a cluster. It connects through a
// port that the API server forwards to a ready pod behind the server's Service. If no pod
// is ready, it connects to one that is not, which can report why. So the server needs no
// address that is reachable from here. A lost connection is replaced, by one to another
// pod if there is one.
//
// The connection is encrypted from here to the pod. The server's certificate must be for
// SERVICE.NAMESPACE.svc. It must be from the authority that an option names or, by default,
// the one in the ConfigMap workload-resizer-ca of that namespace. The caller is the user of
// config, by token or client certificate, unless an option says otherwise.
//
// If a token of the kubeconfig is not for the audience of WithTokenAudience, it is never
// sent and the call fails as UNAUTHENTICATED. Most such tokens are for the API server
// alone, where their holder can do everything that the user can.
//
// WithPlaintext is for a server without TLS: only the API server's own encryption remains,
// and no credentials are sent.
//
// In that namespace, the user needs the rights to list endpointslices, to get and create
// pods/portforward, and to get that ConfigMap.
func DialCluster(ctx context.Context, config *rest.Config, opts ...Option) (*Client, error) {
	o := optionsOf(opts)
	// The connection must outlive the timeout of a request.
	config = rest.CopyConfig(config)
	config.Timeout = 0
	core, err := corev1client.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("create a client for the API server: %w", err)
	}
	discovery, err := discoveryv1client.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("create a client for the API server: %w", err)
	}
	if err := o.identityIn(config, core); err != nil {
		return nil, err
	}
	if !o.plaintext {
		if err := o.authorityIn(ctx, core); err != nil {
			return nil, err
		}
	}
	forwarder := &forwarder{config: config, pods: core.RESTClient(), slices: discovery, service: o.cluster.service}
	o.extra = append(o.extra, grpc.WithContextDialer(forwarder.dial), grpc.WithNoProxy())
	host := o.cluster.service.Name + "." + o.cluster.service.Namespace + ".svc"
	return o.dial("passthrough:///"+host, host, false)
}

// authorityIn reads the authority of the server's certificate, unless an option
// names one.
func (o *options) authorityIn(ctx context.Context, core corev1client.ConfigMapsGetter) error {
	if o.tls.caFile != "" || o.tls.authorities != nil {
		return nil
	}
	var err error
	o.tls.readAuthorities = func(ctx context.Context) (*x509.CertPool, error) {
		return publishedAuthorities(ctx, core, o.cluster.service.Namespace, AuthorityConfigMap)
	}
	if o.tls.authorities, err = o.tls.readAuthorities(ctx); err != nil {
		return fmt.Errorf("find the certificate authority of the server: %w", err)
	}
	return nil
}

// publishedAuthorities reads the authorities that a server publishes.
func publishedAuthorities(ctx context.Context, core corev1client.ConfigMapsGetter, namespace, name string) (*x509.CertPool, error) {
	configMap, err := core.ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("there is no ConfigMap %s/%s: "+
			"check that workload-resizer runs in that namespace, with TLS", namespace, name)
	case err != nil:
		return nil, fmt.Errorf("get ConfigMap %s/%s: %w", namespace, name, err)
	case strings.TrimSpace(configMap.Data[AuthorityKey]) == "":
		return nil, fmt.Errorf("key %s of ConfigMap %s/%s is empty: %w", AuthorityKey, namespace, name, ErrNotPublished)
	}
	authorities, err := authoritiesOf([]byte(configMap.Data[AuthorityKey]))
	if err != nil {
		return nil, fmt.Errorf("key %s of ConfigMap %s/%s %w", AuthorityKey, namespace, name, err)
	}
	return authorities, nil
}
