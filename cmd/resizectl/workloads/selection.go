package workloads

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// selection selects workloads, and their order.
type selection struct {
	namespace       string
	allNamespaces   bool
	workload        *workloadresizerv1.Workload
	labels          string
	decision        string
	reason, orderBy string
	limit           objects.Limit
}

// Decisions are the decisions to choose from.
var Decisions = []workloadresizerv1.Decision{
	workloadresizerv1.Decision_DECISION_RESIZE, workloadresizerv1.Decision_DECISION_ALIGNED, workloadresizerv1.Decision_DECISION_SKIP,
}

// Orders are what the server can order workloads by. The first one is the default.
var Orders = []string{"name", "pods", "reverts", "requested_cpu", "requested_memory", "saved_cpu", "saved_memory", "throttled"}

func (s *selection) addFlags(cmd *cobra.Command) {
	flags, words := cmd.Flags(), print.Each(Decisions, print.Decision)
	connect.AddNamespaceFlag(cmd, &s.namespace, "namespace of the workloads")
	flags.BoolVarP(&s.allNamespaces, "all-namespaces", "A", false, "list the workloads in every namespace, regardless of --namespace")
	flags.StringVarP(&s.labels, "selector", "l", "", "only pods with these labels, such as app=web,tier!=cache")
	flags.Var(command.OneOf(&s.decision, "decision", words), "decision", "only workloads with a pod with this decision, one of "+strings.Join(words, ", "))
	flags.StringVar(&s.reason, "reason", "", "only workloads with a pod whose decision has this first reason, such as UnknownNodeType")
	flags.StringVar(&s.orderBy, "order-by", "", "order of the server, one of "+strings.Join(Orders, ", ")+`; with " desc", the largest come first (default: name)`)
	s.limit.AddFlag(cmd, 0, "workloads", "all")
	command.CompleteFlag(cmd, "decision", cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	command.CompleteFlag(cmd, "reason", cobra.FixedCompletions(print.Each(contract.Reasons(), func(i contract.Info) string { return string(i.Reason) }), cobra.ShellCompDirectiveNoFileComp))
	command.CompleteFlag(cmd, "order-by", cobra.FixedCompletions(Orders, cobra.ShellCompDirectiveNoFileComp))
}

// complete parses the arguments. An empty namespace would be the whole cluster to the server.
func (s *selection) complete(cmd *cobra.Command, args []string) error {
	if err := command.CheckNamespace(cmd, s.namespace, "use --all-namespaces for every namespace"); err != nil {
		return err
	}
	if err := command.CheckSelector(cmd, s.labels); err != nil {
		return err
	}
	for name, omitted := range map[string]string{"selector": "for all pods", "reason": "for all reasons", "order-by": "for the order by name"} {
		if err := command.CheckFlag(cmd, name, omitted); err != nil {
			return err
		}
	}
	switch {
	case len(args) == 1 && args[0] == "":
		return command.UsageErrorf(cmd, "the name of the workload is empty: name one as TYPE/NAME, such as deployment/web")
	case len(args) > 2:
		return command.UsageErrorf(cmd, "%s are too many arguments: name one workload as TYPE/NAME, such as deployment/web", strings.Join(args, " "))
	}
	named, err := command.ParseObject(cmd, args)
	switch {
	case err != nil:
		return err
	case named.Pod() != "":
		return command.UsageErrorf(cmd, "%s names no workload: name it as TYPE/NAME, such as deployment/web", strings.Join(args, " "))
	case named.Name != "" && s.allNamespaces:
		return command.UsageErrorf(cmd, "a workload is in one namespace: name it with --namespace instead of --all-namespaces")
	}
	s.workload = named.Workload()
	s.namespace, err = named.In(cmd, s.namespace)
	return err
}

// fetch asks the server for what is selected. The answer has the token of the next page if there are more workloads.
func (s *selection) fetch(ctx context.Context, c *client.Client) (*workloadresizerv1.ListWorkloadsResponse, error) {
	request := &workloadresizerv1.ListWorkloadsRequest{
		Namespace: s.namespace, LabelSelector: s.labels, Workload: s.workload, Code: s.reason, OrderBy: s.orderBy,
	}
	if s.allNamespaces {
		request.Namespace = ""
	}
	if i := slices.Index(print.Each(Decisions, print.Decision), s.decision); i >= 0 {
		request.Decision = Decisions[i]
	}
	all := &workloadresizerv1.ListWorkloadsResponse{}
	// Pages of workloads that are ordered by an amount may not fit together, so there are as few as possible.
	err := s.limit.Read(connect.MostOnPage, func(size int32) (int, bool, error) {
		request.PageSize, request.PageToken = size, all.GetNextPageToken()
		page, err := c.Cluster().ListWorkloads(ctx, request)
		if err != nil {
			return 0, false, err
		}
		all.Workloads, all.NextPageToken, all.Currency = append(all.Workloads, page.GetWorkloads()...), page.GetNextPageToken(), page.GetCurrency()
		return len(all.Workloads), all.NextPageToken != "", nil
	})
	return all, err
}

// nothingFound says that no workload is selected.
func (s *selection) nothingFound() string {
	found := "no workloads found that have pods"
	if s.workload != nil || s.labels != "" || s.decision != "" || s.reason != "" {
		found = "no matching workloads found that have pods"
	}
	if s.allNamespaces {
		return found
	}
	return found + " in namespace " + s.namespace
}
