package client

import (
	"context"
	"errors"
	"fmt"

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
	// DefaultNamespace and DefaultService are where DialCluster looks for the
	// server.
	DefaultNamespace = "workload-resizer-system"
	DefaultService   = "workload-resizer"
	// DefaultAudience is what tokens have to be for.
	DefaultAudience = "workload-resizer.io"
	// authorityName and authorityKey are where the namespace of the server has
	// the authority of its certificate.
	authorityName = "workload-resizer-ca"
	authorityKey  = "ca.crt"
)

// clusterOptions are those of DialCluster alone.
type clusterOptions struct {
	service        types.NamespacedName
	serviceAccount types.NamespacedName
	audience       string
	// audienceGiven tells that an option names the audience.
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
		return errors.New("WithService, WithServiceAccountToken and WithTokenAudience are for DialCluster")
	}
	return nil
}

// WithService names the Service that the server is behind, instead of
// DefaultNamespace and DefaultService. For DialCluster only.
func WithService(namespace, name string) Option {
	return func(o *options) {
		o.cluster.given, o.cluster.service = true, types.NamespacedName{Namespace: namespace, Name: name}
	}
}

// WithServiceAccountToken asks as a ServiceAccount, by tokens that are requested
// for it and live for a quarter of an hour. Whoever dials needs the right to create
// serviceaccounts/token there. For DialCluster only.
func WithServiceAccountToken(namespace, name string) Option {
	return func(o *options) {
		o.cluster.given, o.cluster.serviceAccount = true, types.NamespacedName{Namespace: namespace, Name: name}
	}
}

// WithTokenAudience is what tokens are for, those of WithServiceAccountToken and of
// the kubeconfig, instead of DefaultAudience. With it, a token of the kubeconfig that
// does not tell what it is for, because it is no JSON Web Token, is sent too: only
// for a server that you trust with it. For DialCluster only.
func WithTokenAudience(audience string) Option {
	return func(o *options) {
		o.cluster.given, o.cluster.audience, o.cluster.audienceGiven = true, audience, audience != ""
	}
}

// Kubeconfig returns how a cluster is reached, as kubectl finds it: by the file at
// path, or if it is empty by $KUBECONFIG, ~/.kube/config or the pod that this
// program runs in; and by its current context, or the one that is named.
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

// DialCluster returns a client of the server that runs in a cluster. Its
// connection is a port that the API server forwards to a ready pod behind the
// server's Service, or if none is ready to one that is not, which can say why. So it
// needs no address that is reachable from here. A connection that is lost is made
// anew, to another pod if there is one.
//
// It is encrypted from here to the pod. The server's certificate has to be for
// SERVICE.NAMESPACE.svc, from the authority that an option names or else the
// ConfigMap workload-resizer-ca of that namespace. Who asks is the user of config,
// by token or client certificate, unless an option says otherwise. A token of the
// kubeconfig that is not for the audience of WithTokenAudience fails the call as
// UNAUTHENTICATED and is never sent: most are for the API server alone, and who has
// them can do there all that the user can. WithPlaintext leaves the API server's own encryption, for a server that has none, and no
// credentials.
//
// The user needs the rights to list endpointslices and to get and create
// pods/portforward in that namespace, and to get that ConfigMap.
func DialCluster(ctx context.Context, config *rest.Config, opts ...Option) (*Client, error) {
	o := optionsOf(opts)
	// A connection lasts longer than any request.
	config = rest.CopyConfig(config)
	config.Timeout = 0
	core, err := corev1client.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("set up a client of the API server: %w", err)
	}
	discovery, err := discoveryv1client.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("set up a client of the API server: %w", err)
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
	namespace := o.cluster.service.Namespace
	configMap, err := core.ConfigMaps(namespace).Get(ctx, authorityName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("find the certificate authority of the server: there is no ConfigMap %s/%s: "+
			"is workload-resizer in that namespace, and does it encrypt?", namespace, authorityName)
	case err != nil:
		return fmt.Errorf("find the certificate authority of the server: get ConfigMap %s/%s: %w", namespace, authorityName, err)
	}
	if o.tls.authorities, err = authoritiesOf([]byte(configMap.Data[authorityKey])); err != nil {
		return fmt.Errorf("find the certificate authority of the server: key %s of ConfigMap %s/%s %w", authorityKey, namespace, authorityName, err)
	}
	return nil
}
