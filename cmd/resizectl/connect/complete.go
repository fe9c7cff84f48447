package connect

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// completionTimeout is short: the user waits for it in the middle of a command line.
const completionTimeout = 2 * time.Second

// ask asks a server for completions. If it does not answer in time, there are none, silently: an error would be
// printed into the line.
type ask func(context.Context, *client.Client) ([]cobra.Completion, error)

// CompleteFlag completes a flag.
func (c *Connection) CompleteFlag(ask ask) cobra.CompletionFunc {
	return noFiles(func(cmd *cobra.Command, _ []string, _ string) []cobra.Completion { return c.completions(cmd, ask) })
}

// CompleteFirst completes only the first argument.
func (c *Connection) CompleteFirst(ask ask) cobra.CompletionFunc {
	return first(func(cmd *cobra.Command, _ string) []cobra.Completion { return c.completions(cmd, ask) })
}

// InOrder completes in the order of the server.
func InOrder(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		found, directive := complete(cmd, args, typed)
		return found, directive | cobra.ShellCompDirectiveKeepOrder
	}
}

// noFiles completes nothing but what complete returns.
func noFiles(complete func(cmd *cobra.Command, args []string, typed string) []cobra.Completion) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return complete(cmd, args, typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// first completes only the first argument.
func first(complete func(cmd *cobra.Command, typed string) []cobra.Completion) cobra.CompletionFunc {
	return noFiles(func(cmd *cobra.Command, args []string, typed string) []cobra.Completion {
		if len(args) > 0 {
			return nil
		}
		return complete(cmd, typed)
	})
}

// CompleteNodeTypes completes up to atMost node types, or any number if atMost is 0.
func CompleteNodeTypes(server *Connection, atMost int) cobra.CompletionFunc {
	return noFiles(func(cmd *cobra.Command, args []string, _ string) []cobra.Completion {
		if atMost > 0 && len(args) >= atMost {
			return nil
		}
		return server.completions(cmd, nodeTypesBut(args))
	})
}

// CompleteNodeTypeFlag completes a flag that names a node type or, with list, several,
// separated by commas.
func CompleteNodeTypeFlag(server *Connection, list bool) cobra.CompletionFunc {
	return noFiles(func(cmd *cobra.Command, _ []string, typed string) []cobra.Completion {
		before := ""
		if n := strings.LastIndex(typed, ","); list && n >= 0 {
			before = typed[:n+1]
		}
		found := server.completions(cmd, nodeTypesBut(strings.Split(before, ",")))
		for i := range found {
			found[i] = before + found[i]
		}
		return found
	})
}

func nodeTypesBut(named []string) ask {
	return func(ctx context.Context, c *client.Client) (found []cobra.Completion, err error) {
		resp, err := c.ListRatios(ctx)
		for _, ratio := range resp.GetRatios() {
			if !slices.Contains(named, ratio.GetNodeType()) {
				found = append(found, cobra.CompletionWithDesc(print.OneLine(ratio.GetNodeType()),
					fmt.Sprintf("%s/%s from %s", print.Perf(ratio.GetCpuPerf()), print.Perf(ratio.GetMemoryPerf()), print.OneLine(ratio.GetProvenance().GetSource()))))
			}
		}
		return found, err
	}
}

func (c *Connection) completions(cmd *cobra.Command, ask ask) (found []cobra.Completion) {
	c.timeout, c.quiet = completionTimeout, true
	_ = c.Call(cmd.Context(), func(ctx context.Context, server *client.Client) (err error) {
		found, err = ask(ctx, server)
		return err
	})
	return found
}

// mostCompletions is the maximum number of objects that are listed to complete a name: nobody reads
// more, and the user waits.
const mostCompletions = 500

// podTemplateHash is the label of a ReplicaSet's pods that is the end of the ReplicaSet's name, after the
// name of its Deployment.
const podTemplateHash = "pod-template-hash"

// CompleteObjects completes the pod or workload that is the only argument of a command: pods, and
// workloads as TYPE/NAME once there is a slash; both after the namespace if the argument begins with one.
func CompleteObjects(server *Connection) cobra.CompletionFunc {
	return first(func(cmd *cobra.Command, typed string) []cobra.Completion {
		namespace, begin := server.typedNamespace(cmd), ""
		if named, rest, found := strings.Cut(typed, "/"); found && command.IsNamespace(named) {
			namespace, begin, typed = named, named+"/", rest
		}
		names, workloads := server.namesIn(cmd, namespace)
		if strings.Contains(typed, "/") {
			names = nil
		}
		names = append(names, workloads...)
		for i := range names {
			names[i] = begin + names[i]
		}
		return names
	})
}

// CompleteWorkloads completes the workload that is the only argument of a command about usage, as
// TYPE/NAME.
func CompleteWorkloads(server *Connection) cobra.CompletionFunc {
	return first(func(cmd *cobra.Command, _ string) []cobra.Completion {
		namespace := server.typedNamespace(cmd)
		if cluster := server.completing(); cluster != nil {
			_, workloads := namesInCluster(cmd, cluster, namespace)
			return workloads
		}
		return server.completions(cmd, func(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
			known := map[string]bool{}
			resp, err := c.ListRecommendations(ctx, &workloadresizerv1.ListRecommendationsRequest{Namespace: namespace})
			for _, r := range resp.GetRecommendations() {
				known[print.WorkloadName(r.GetWorkload())] = true
			}
			return slices.Sorted(maps.Keys(known)), err
		})
	})
}

// typedNamespace returns the namespace on a command line that is not complete yet.
func (c *Connection) typedNamespace(cmd *cobra.Command) string {
	if flag := cmd.Flags().Lookup("namespace"); flag != nil && flag.Changed {
		return flag.Value.String()
	}
	return c.contextNamespace()
}

// namesIn returns the names of the pods and workloads in a namespace: from the cluster of the
// kubeconfig if its server is called, and else from the server.
func (c *Connection) namesIn(cmd *cobra.Command, namespace string) (pods, workloads []string) {
	if cluster := c.completing(); cluster != nil {
		return namesInCluster(cmd, cluster, namespace)
	}
	c.completions(cmd, func(ctx context.Context, server *client.Client) ([]cobra.Completion, error) {
		for plan, err := range server.PreviewPlans(ctx, namespace).All() {
			if err != nil || len(pods) >= mostCompletions {
				break
			}
			pods = append(pods, print.OneLine(plan.GetPod()))
		}
		workloads = ofResizes(ctx, server, namespace, func(r *workloadresizerv1.Resize) string {
			if r.GetWorkload() == nil {
				return ""
			}
			return print.WorkloadName(r.GetWorkload())
		})
		return nil, nil
	})
	return pods, workloads
}

// ofResizes returns the names that resizes in a namespace have; empty ones are left out.
func ofResizes(ctx context.Context, c *client.Client, namespace string, nameOf func(*workloadresizerv1.Resize) string) []string {
	known := map[string]bool{}
	for resize, err := range c.ListResizes(ctx, &workloadresizerv1.ListResizesRequest{Namespace: namespace}) {
		if err != nil || len(known) >= mostCompletions {
			break
		}
		if name := nameOf(resize); name != "" {
			known[name] = true
		}
	}
	return slices.Sorted(maps.Keys(known))
}

// namesInCluster returns the names of the pods and workloads in a namespace of a cluster.
func namesInCluster(cmd *cobra.Command, cluster *corev1client.CoreV1Client, namespace string) (pods, workloads []string) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
	defer cancel()
	list, err := cluster.Pods(namespace).List(ctx, metav1.ListOptions{Limit: mostCompletions, ResourceVersion: "0"})
	if err != nil {
		return nil, nil
	}
	known := map[string]bool{}
	for i := range list.Items {
		pods = append(pods, list.Items[i].Name)
		if workload := workloadOf(&list.Items[i].ObjectMeta); workload != "" {
			known[workload] = true
		}
	}
	return pods, slices.Sorted(maps.Keys(known))
}

// workloadOf returns the workload of a pod as TYPE/NAME; empty if it has none.
func workloadOf(pod *metav1.ObjectMeta) string {
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return ""
	}
	if hash := pod.Labels[podTemplateHash]; owner.Kind == "ReplicaSet" && hash != "" && strings.HasSuffix(owner.Name, "-"+hash) {
		return "deployment/" + strings.TrimSuffix(owner.Name, "-"+hash)
	}
	return print.Type(owner.Kind) + "/" + owner.Name
}

// CompleteNamespaces completes a flag that names a namespace: from the cluster of the kubeconfig if its
// server is called, and else the namespaces of the pods that the server has resized.
func CompleteNamespaces(server *Connection) cobra.CompletionFunc {
	return noFiles(func(cmd *cobra.Command, _ []string, _ string) []cobra.Completion {
		if cluster := server.completing(); cluster != nil {
			return listed(cmd, cluster.Namespaces().List)
		}
		return server.completions(cmd, func(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
			return ofResizes(ctx, c, "", func(r *workloadresizerv1.Resize) string { return print.OneLine(r.GetNamespace()) }), nil
		})
	})
}

// CompleteNodes completes a flag that names a node, from the cluster of the kubeconfig.
func CompleteNodes(server *Connection) cobra.CompletionFunc {
	return noFiles(func(cmd *cobra.Command, _ []string, _ string) []cobra.Completion {
		if cluster := server.completing(); cluster != nil {
			return listed(cmd, cluster.Nodes().List)
		}
		return nil
	})
}

// listed returns the names of objects that the API server lists; none if it does not answer in time.
func listed[L runtime.Object](cmd *cobra.Command, list func(context.Context, metav1.ListOptions) (L, error)) (names []string) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
	defer cancel()
	all, err := list(ctx, metav1.ListOptions{Limit: mostCompletions, ResourceVersion: "0"})
	if err != nil {
		return nil // It would be printed into the line.
	}
	_ = meta.EachListItem(all, func(item runtime.Object) error {
		names = append(names, item.(metav1.Object).GetName())
		return nil
	})
	return names
}

// completing returns a client for the cluster of the kubeconfig; nil if the server of another address is
// called, or the kubeconfig selects no cluster.
func (c *Connection) completing() *corev1client.CoreV1Client {
	if inCluster, err := c.inCluster(); err != nil || !inCluster {
		return nil
	}
	config, err := c.kube.restConfig()
	if err != nil {
		return nil
	}
	cluster, err := corev1client.NewForConfig(config)
	if err != nil {
		return nil
	}
	return cluster
}

// completeKubeconfig completes the flags that name parts of the kubeconfig.
func (c *Connection) completeKubeconfig(root *cobra.Command) {
	for flag, names := range map[string]func(*clientcmdapi.Config) []string{
		"context": func(k *clientcmdapi.Config) []string { return slices.Sorted(maps.Keys(k.Contexts)) },
		"cluster": func(k *clientcmdapi.Config) []string { return slices.Sorted(maps.Keys(k.Clusters)) },
		"user":    func(k *clientcmdapi.Config) []string { return slices.Sorted(maps.Keys(k.AuthInfos)) },
	} {
		command.CompleteFlag(root, flag, noFiles(func(*cobra.Command, []string, string) []cobra.Completion {
			kubeconfig, err := c.kube.loader().RawConfig()
			if err != nil {
				return nil
			}
			return names(&kubeconfig)
		}))
	}
}
