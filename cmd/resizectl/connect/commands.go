package connect

import (
	"strings"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// Commands adds the flags that select the cluster to each command of kubectl, and those that select the server and
// the user to each one of resizectl. Without them, the user would change another cluster. calledAs is what
// users write for resizectl.
func (c *Connection) Commands(text, calledAs string) string {
	return strings.NewReplacer(
		"kubectl ", "kubectl"+c.given(kubectlFlags)+" ",
		"resizectl ", calledAs+c.given(clusterFlags)+c.given(serverFlags)+" ",
	).Replace(text)
}

// given returns the flags that are set, as users write them after the name of a program.
func (c *Connection) given(names []string) (text string) {
	for _, name := range names {
		if flag := c.flags.Lookup(name); flag.Changed {
			text += " --" + name + "='" + strings.ReplaceAll(flag.Value.String(), "'", `'\''`) + "'"
		}
	}
	return text
}

// DefaultNamespace is the namespace of the server that deploy/base installs.
var DefaultNamespace, _, _ = strings.Cut(defaultService, "/")

// FreezeCommand returns the command that freezes the cluster of a server in this namespace, even
// if the server does not answer, and regardless of whether the ConfigMap exists.
func FreezeCommand(namespace string) string {
	return "kubectl create configmap " + contract.DefaultNames.Freeze + " -n " + namespace + " --from-literal=frozen=true --dry-run=client -o yaml | kubectl apply --server-side --force-conflicts -f -"
}

// UnfreezeCommand returns the command that ends the freeze, if there is one.
func UnfreezeCommand(namespace string) string {
	return "kubectl delete configmap " + contract.DefaultNames.Freeze + " -n " + namespace + " --ignore-not-found"
}

// Namespace returns the namespace of the server, as far as the flags name it.
func (c *Connection) Namespace() string {
	namespace, _, _ := strings.Cut(c.service, "/")
	return namespace
}
