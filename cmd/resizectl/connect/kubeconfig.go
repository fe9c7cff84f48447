package connect

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// ofContext marks flags whose default is the namespace of the kubeconfig context.
const ofContext = "workload-resizer/namespace-of-context"

// AddNamespaceFlag adds -n. As in kubectl, its default is the namespace of the kubeconfig context,
// or else "default". A server that is not called through a kubeconfig has no context.
func AddNamespaceFlag(cmd *cobra.Command, namespace *string, usage string) {
	flags := cmd.Flags()
	flags.StringVarP(namespace, "namespace", "n", "", usage+" (default: the namespace of the kubeconfig context, or else default)")
	if err := flags.SetAnnotation("namespace", ofContext, nil); err != nil {
		panic(err) // There is no such flag.
	}
}

// setNamespace gives -n its default, so that commands read the flag without having to know
// whether it was set.
func (c *Connection) setNamespace(cmd *cobra.Command) {
	flag := cmd.Flags().Lookup("namespace")
	if flag == nil || flag.Changed {
		return
	}
	if _, marked := flag.Annotations[ofContext]; !marked {
		return
	}
	// Setting the value of the flag and not the flag leaves it unset for commands that ask.
	if err := flag.Value.Set(c.contextNamespace()); err != nil {
		panic(err) // The value is a string.
	}
}

// NamespaceOfManifests returns the namespace in which kubectl would create objects that name none: that of
// the kubeconfig context, even if the server is not called through the kubeconfig. Then it is empty if the
// context has none.
func (c *Connection) NamespaceOfManifests() string {
	if inCluster, err := c.inCluster(); err == nil && inCluster {
		return c.contextNamespace()
	}
	namespace, _, err := c.kube.loader().Namespace()
	if err != nil || namespace == metav1.NamespaceDefault {
		return ""
	}
	return namespace
}

// contextNamespace returns the namespace of the kubeconfig context for the server of a cluster.
// It ignores faults in the flags or the kubeconfig: not all commands call, and dial reports them.
func (c *Connection) contextNamespace() string {
	if inCluster, err := c.inCluster(); err != nil || !inCluster {
		return metav1.NamespaceDefault
	}
	namespace, _, err := c.kube.loader().Namespace()
	if err != nil {
		return metav1.NamespaceDefault
	}
	return cmp.Or(namespace, metav1.NamespaceDefault)
}
