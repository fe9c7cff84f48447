package connect

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

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

// loader reads the kubeconfig.
func (k *kubeconfigFlags) loader() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = k.file
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{
		CurrentContext: k.context,
		Context:        clientcmdapi.Context{Cluster: k.cluster, AuthInfo: k.user},
	})
}

// errNoCluster is the error if no kubeconfig names a cluster.
var errNoCluster = errors.New("no kubeconfig with a cluster found: set --kubeconfig or KUBECONFIG")

// restConfig returns the configuration for the cluster.
func (k *kubeconfigFlags) restConfig() (*rest.Config, error) {
	loader := k.loader()
	kubeconfig, err := loader.RawConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w: set --kubeconfig or KUBECONFIG to a kubeconfig file", err)
	}
	if len(kubeconfig.Clusters) == 0 && k.file != "" {
		return nil, fmt.Errorf("--kubeconfig %s names no cluster: set it to a kubeconfig file with one", k.file)
	}
	if len(kubeconfig.Clusters) == 0 {
		return nil, errNoCluster
	}
	if err := k.selects(&kubeconfig); err != nil {
		return nil, err
	}
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	return config, nil
}

// selects returns an error if the flags select no cluster of the kubeconfig. client-go would
// then advise a variable that only kubectl reads.
func (k *kubeconfigFlags) selects(kubeconfig *clientcmdapi.Config) error {
	name := cmp.Or(k.context, kubeconfig.CurrentContext)
	context, ok := kubeconfig.Contexts[name]
	switch {
	case k.context != "" && !ok:
		return fmt.Errorf("context %q does not exist: set --context to one of %s", k.context, namesOf(kubeconfig.Contexts))
	case k.cluster != "" && kubeconfig.Clusters[k.cluster] == nil:
		return fmt.Errorf("cluster %q does not exist: set --cluster to one of %s", k.cluster, namesOf(kubeconfig.Clusters))
	case k.user != "" && kubeconfig.AuthInfos[k.user] == nil:
		return fmt.Errorf("user %q does not exist: set --user to one of %s", k.user, namesOf(kubeconfig.AuthInfos))
	case ok && k.cluster == "" && context.Cluster == "":
		return fmt.Errorf("context %q names no cluster: set --cluster", name)
	case ok && k.cluster == "" && kubeconfig.Clusters[context.Cluster] == nil:
		return fmt.Errorf("context %q names the cluster %q, which the kubeconfig does not have", name, context.Cluster)
	case name == "" && k.cluster == "" && len(kubeconfig.Contexts) > 0:
		return fmt.Errorf("the kubeconfig has no current context: set --context to one of %s", namesOf(kubeconfig.Contexts))
	case name == "" && k.cluster == "":
		return errors.New("the kubeconfig has no contexts: set --cluster")
	}
	return nil // client-go reports everything else.
}

// namesOf returns the names in a part of a kubeconfig.
func namesOf[T any](part map[string]T) string {
	return strings.Join(slices.Sorted(maps.Keys(part)), ", ")
}
