package pages

import (
	"cmp"
	"context"
	"net/http"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/plans"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/usage"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/workloads"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

const (
	// mostPods is how many pods of a workload are listed.
	mostPods = 100
	// mostEvents is how many entries the time line of a workload has.
	mostEvents = 30
)

// oneWorkload is what the page of a workload reads.
type oneWorkload struct {
	list  part[*workloadresizerv1.ListWorkloadsResponse]
	plans part[[]*workloadresizerv1.Plan]
	// more reports whether it has more pods than were read.
	more    bool
	needs   part[*workloadresizerv1.GetRecommendationResponse]
	entries part[[]*workloadresizerv1.JournalEntry]
}

var workloadPage = page{
	pattern: "/workloads/{namespace}/{kind}/{name}", template: "workload",
	title: func(r *http.Request) string { return r.PathValue("namespace") + "/" + print.WorkloadName(named(r)) },
	key: func(r *http.Request) string {
		return workloadPath(r.PathValue("namespace"), named(r))
	},
	read: readWorkload,
	view: func(o *print.Output, value any, r *http.Request) any { return workloadView(o, value.(*oneWorkload), r) },
}

// named returns the workload that an address names, by its kind or the type that pages show.
func named(r *http.Request) *workloadresizerv1.Workload {
	return &workloadresizerv1.Workload{Kind: cmp.Or(command.KindNamed(r.PathValue("kind")), r.PathValue("kind")), Name: r.PathValue("name")}
}

func readWorkload(ctx context.Context, c *client.Client, r *http.Request) (any, error) {
	var one oneWorkload
	var err error
	namespace, of := r.PathValue("namespace"), named(r)
	if one.list, err = partOf(c.ListWorkloads(ctx, &workloadresizerv1.ListWorkloadsRequest{Namespace: namespace, Workload: of})); err != nil {
		return nil, err
	}
	if one.plans, err = partOf(one.pods(ctx, c, namespace, of)); err != nil {
		return nil, err
	}
	if one.needs, err = partOf(c.GetRecommendation(ctx, namespace, of)); err != nil {
		return nil, err
	}
	one.entries, err = partOf(entries(ctx, c, &workloadresizerv1.ListEntriesRequest{Namespace: namespace, Workload: of, PageSize: mostEvents}))
	return &one, err
}

// pods returns the plans of the first pods.
func (one *oneWorkload) pods(ctx context.Context, c *client.Client, namespace string, of *workloadresizerv1.Workload) (all []*workloadresizerv1.Plan, err error) {
	for plan, err := range c.PreviewPlans(ctx, namespace, client.OfWorkload(of)).All() {
		if err != nil {
			return nil, err
		}
		if one.more = len(all) == mostPods; one.more {
			return all, nil
		}
		all = append(all, plan)
	}
	return all, nil
}

// containerNeed is what a container needs, step by step.
type containerNeed struct {
	Name  string
	Steps []note
}

func workloadView(o *print.Output, one *oneWorkload, r *http.Request) any {
	namespace := r.PathValue("namespace")
	v := struct {
		Summary, Pods                                         table
		SummaryProblem, PodProblem, NeedProblem, EventProblem string
		More                                                  bool
		Most                                                  int
		Needs                                                 []containerNeed
		Events                                                []entryView
		Actions                                               []action
	}{
		SummaryProblem: one.list.Problem, PodProblem: one.plans.Problem, NeedProblem: one.needs.Problem, EventProblem: one.entries.Problem,
		More: one.more, Most: mostPods, Events: entryViews(one.entries.Value),
	}
	of := one.list.Value.GetWorkloads()
	v.Summary = tableOf(workloads.Kind(false).Table(of...), true, func(row int) string { return workloadKey(of[row].GetSavings()) }, nil)
	shown := plans.Table(one.plans.Value...)
	v.Pods = tableOf(shown, false, func(row int) string { return print.CellText(shown, row, 0) + "/" + print.CellText(shown, row, 1) }, func(_ int, column, text string) string {
		if column == "Pod" {
			return podPath(namespace, text)
		}
		return ""
	})
	for _, e := range one.needs.Value.GetContainers() {
		lines, err := usage.Steps(o.Painter(), e, one.needs.Value.GetCurrency())
		if err != nil {
			lines = []string{"Unknown: " + err.Error()}
		}
		v.Needs = append(v.Needs, containerNeed{print.OneLine(e.GetRecommendation().GetContainer()), steps(o, lines)})
	}
	scope := print.ScopeArguments(&workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_Workload{
		Workload: &workloadresizerv1.NamespacedWorkload{Namespace: namespace, Kind: named(r).GetKind(), Name: named(r).GetName()},
	}})
	for _, a := range []struct{ title, verb string }{{"Keep its pods from being resized", "pause"}, {"Give its pods what their authors wrote", "restore"}, {"End a pause, a restore or an open breaker", "resume"}} {
		if c := print.CommandOf("resizectl "+a.verb+" SCOPE", map[string]print.Command{"SCOPE": scope}); c != nil {
			v.Actions = append(v.Actions, action{a.title, actions(o, c)})
		}
	}
	return v
}

// action is what a person can do, and the commands for it.
type action struct {
	Title    string
	Commands []string
}
