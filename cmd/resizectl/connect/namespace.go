package connect

import (
	"cmp"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
