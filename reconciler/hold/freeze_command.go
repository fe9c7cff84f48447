package hold

import "fmt"

// FreezeCommand returns the command that freezes the cluster while no server answers. It applies
// the ConfigMap, because it works whether or not that exists: an existing one may say that the
// cluster is not frozen, or be of another owner. resizectl has the same command, as a test checks.
func FreezeCommand(namespace, name string) string {
	return fmt.Sprintf("kubectl create configmap %s -n %s --from-literal=%s=%s --dry-run=client -o yaml | kubectl apply --server-side --force-conflicts -f -", name, namespace, keyFrozen, frozen)
}

// UnfreezeCommand returns the command that ends the freeze, if there is one.
func UnfreezeCommand(namespace, name string) string {
	return fmt.Sprintf("kubectl delete configmap %s -n %s --ignore-not-found", name, namespace)
}
