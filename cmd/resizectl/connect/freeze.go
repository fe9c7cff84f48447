package connect

import (
	"strings"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

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
