package main

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	metricsclient "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"

	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/leader"
)

// writeTimeout bounds one write to a pod. Time spent waiting for the client's own
// rate limit does not count.
const writeTimeout = 10 * time.Second

// readTimeout bounds the list of the usage of a namespace.
const readTimeout = 30 * time.Second

// clients are the connections to the API server. Events, previews, reviews of callers and
// the Lease have rate limits of their own, so that they and resizes never delay each other.
// Writes have a timeout, which watches must not have.
type clients struct {
	main, writer, asker, events, leases kubernetes.Interface
	// freeze reads the freeze. It has no rate limit: writes wait for it, and it reads at most
	// twice per second.
	freeze                               kubernetes.Interface
	tokens, renewals, rights, visibility kubernetes.Interface
	// nodes writes taints. It has no rate limit: pods wait for startup taints, and each node is
	// seldom written.
	nodes kubernetes.Interface
	// moves reads pods that may be evicted, and what they depend on.
	moves kubernetes.Interface
	// usage stores the history of usage, and metrics reads usage. A list of a large namespace takes
	// long.
	usage    kubernetes.Interface
	metrics  metricsclient.MetricsV1beta1Interface
	dynamic  dynamic.Interface
	metadata metadata.Interface
	// vpas writes the status of VerticalPodAutoscalers.
	vpas dynamic.Interface
}

func newClients(o *options) (*clients, error) {
	config, err := restConfig(o.kubeconfig)
	if err != nil {
		return nil, err
	}
	config.UserAgent = "workload-resizer/" + build.Version
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON

	config.QPS, config.Burst = o.qps, o.burst
	writing := actuate.ClientConfig(config, writeTimeout)
	bounded := rest.CopyConfig(config)
	bounded.Timeout = writeTimeout
	electing := rest.CopyConfig(config)
	electing.Timeout = leader.RequestTimeout(o.election.leaseDuration)
	unlimited := rest.CopyConfig(bounded)
	unlimited.QPS = -1
	c := &clients{}
	for _, client := range []struct {
		into   *kubernetes.Interface
		config *rest.Config
	}{{&c.main, config}, {&c.writer, writing}, {&c.asker, writing}, {&c.events, bounded}, {&c.leases, electing}, {&c.freeze, unlimited}, {&c.nodes, unlimited}, {&c.moves, bounded}, {&c.usage, bounded}, {&c.tokens, bounded}, {&c.renewals, bounded}, {&c.rights, bounded}, {&c.visibility, bounded}} {
		set, err := kubernetes.NewForConfig(client.config)
		if err != nil {
			return nil, fmt.Errorf("create a client for the API server: %w", err)
		}
		*client.into = set
	}
	reading := rest.CopyConfig(config)
	reading.Timeout = readTimeout
	if c.metrics, err = metricsclient.NewForConfig(reading); err != nil {
		return nil, fmt.Errorf("create a client for the API server: %w", err)
	}
	if c.dynamic, err = dynamic.NewForConfig(jsonOnly(config)); err != nil {
		return nil, fmt.Errorf("create a client for the API server: %w", err)
	}
	if c.vpas, err = dynamic.NewForConfig(jsonOnly(bounded)); err != nil {
		return nil, fmt.Errorf("create a client for the API server: %w", err)
	}
	if c.metadata, err = metadata.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("create a client for the API server: %w", err)
	}
	return c, nil
}

// jsonOnly returns a configuration for custom resources, which the API server serves only
// as JSON.
func jsonOnly(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	return config
}

func restConfig(kubeconfig string) (*rest.Config, error) {
	if kubeconfig != "" {
		if err := usable(kubeconfig); err != nil {
			return nil, fmt.Errorf("--kubeconfig %s %w", kubeconfig, err)
		}
		config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
		if err != nil {
			return nil, fmt.Errorf("--kubeconfig: %w", err)
		}
		return config, nil
	}
	config, err := rest.InClusterConfig()
	if err != nil {
		return nil, fmt.Errorf("not running in a cluster; name one with --kubeconfig: %w", err)
	}
	return config, nil
}

// usable returns an error if the current context of a kubeconfig selects no cluster. client-go
// would then advise a variable that only kubectl reads.
func usable(path string) error {
	kubeconfig, err := clientcmd.LoadFromFile(path)
	if err != nil {
		return fmt.Errorf("is not a kubeconfig: %w", err)
	}
	context, ok := kubeconfig.Contexts[kubeconfig.CurrentContext]
	switch {
	case len(kubeconfig.Clusters) == 0:
		return errors.New("names no cluster")
	case kubeconfig.CurrentContext == "":
		return fmt.Errorf("has no current context: select one with kubectl --kubeconfig %s config use-context NAME", path)
	case !ok:
		return fmt.Errorf("has no context %q, which is its current one", kubeconfig.CurrentContext)
	case kubeconfig.Clusters[context.Cluster] == nil:
		return fmt.Errorf("has no cluster %q, which its current context %q names", context.Cluster, kubeconfig.CurrentContext)
	}
	return nil
}
