package connect

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// kubeconfigFlags are those of kubectl that say which cluster, and as whom.
type kubeconfigFlags struct{ file, context, cluster, user string }

func (k *kubeconfigFlags) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&k.file, "kubeconfig", "", "kubeconfig file that leads to the cluster of the server; without it, as kubectl finds it")
	flags.StringVar(&k.context, "context", "", "context of the kubeconfig to use")
	flags.StringVar(&k.cluster, "cluster", "", "cluster of the kubeconfig to use")
	flags.StringVar(&k.user, "user", "", "user of the kubeconfig to ask as")
}

// restConfig is how the cluster is reached.
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
		return nil, errors.New("there is no kubeconfig that leads to a cluster: name one with --kubeconfig or KUBECONFIG, or the server's address with --server")
	}
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	return config, nil
}
