package connect

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// kubeconfigFlags are kubectl's flags that select the cluster and the user.
type kubeconfigFlags struct{ file, context, cluster, user string }

func (k *kubeconfigFlags) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&k.file, "kubeconfig", "", "kubeconfig file for the cluster of the server (default: found as kubectl finds it)")
	flags.StringVar(&k.context, "context", "", "kubeconfig context to use")
	flags.StringVar(&k.cluster, "cluster", "", "kubeconfig cluster to use")
	flags.StringVar(&k.user, "user", "", "kubeconfig user to authenticate as")
}

// restConfig returns the configuration for the cluster.
func (k *kubeconfigFlags) restConfig() (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = k.file
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{
		CurrentContext: k.context,
		Context:        clientcmdapi.Context{Cluster: k.cluster, AuthInfo: k.user},
	})
	kubeconfig, err := loader.RawConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	if len(kubeconfig.Clusters) == 0 {
		return nil, errors.New("no kubeconfig with a cluster found: set --kubeconfig or KUBECONFIG, or the server's address with --server")
	}
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	return config, nil
}
