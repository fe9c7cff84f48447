package pages

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	needs   part[needs]
	entries part[latest]
	trend   part[trend]
	holds   part[*workloadresizerv1.ListHoldsResponse]
}

var workloadPage = page{
	pattern: "/workloads/{namespace}/{kind}/{name}", template: "workload",
	title: func(r *http.Request) string {
		return print.OneLine(r.PathValue("namespace") + "/" + print.WorkloadName(named(r)))
	},
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
	var parts errgroup.Group
	namespace, of := r.PathValue("namespace"), named(r)
	read(ctx, &parts, &one.list, func() (*workloadresizerv1.ListWorkloadsResponse, error) {
		return c.ListWorkloads(ctx, &workloadresizerv1.ListWorkloadsRequest{Namespace: namespace, Workload: of})
	})
	read(ctx, &parts, &one.plans, func() (all []*workloadresizerv1.Plan, err error) {
		all, one.more, err = firstPlans(c.PreviewPlans(ctx, namespace, client.OfWorkload(of)))
		return all, err
	})
	read(ctx, &parts, &one.holds, func() (*workloadresizerv1.ListHoldsResponse, error) { return c.ListHolds(ctx, namespace) })
	read(ctx, &parts, &one.needs, func() (needs, error) { return readNeeds(ctx, c, namespace, of) })
	read(ctx, &parts, &one.entries, func() (latest, error) {
		return latestOf(ctx, c, &workloadresizerv1.ListEntriesRequest{Namespace: namespace, Workload: of, PageSize: mostEvents})
	})
	read(ctx, &parts, &one.trend, func() (trend, error) {
		return listTrend(ctx, c, &workloadresizerv1.ListSavingsRequest{Namespace: namespace, Workload: of}, trendDays)
	})
	return &one, parts.Wait()
}

// firstPlans returns the first plans of a preview, and whether there are more.
func firstPlans(preview *client.PlanStream) (all []*workloadresizerv1.Plan, more bool, err error) {
	for plan, err := range preview.All() {
		if err != nil {
			return nil, false, err
		}
		if len(all) == mostPods {
			return all, true, nil
		}
		all = append(all, plan)
	}
	return all, false, nil
}

// planTable returns plans of pods in several namespaces, each of which leads to its page.
func planTable(all []*workloadresizerv1.Plan) table { return podTable(plans.Table(true, all...)) }

// podTable returns a table of which each row begins with a namespace, a pod and a container.
func podTable(shown *metav1.Table) table {
	key := func(row, columns int) (text string) {
		for i := range columns {
			text += print.CellText(shown, row, i) + "/"
		}
		return text
	}
	return tableOf(shown, false, func(row int) string { return key(row, 3) }, func(row int, column, text string) string {
		if column == "Pod" {
			return podPath(print.CellText(shown, row, 0), text)
		}
		return whereOf(column, text)
	}).oneUnit()
}

// containerNeed is what a container needs, step by step.
type containerNeed struct {
	// Key tells it from others: a container has a need for each rule that matches some of its pods.
	Key, Name string
	Steps     []note
	// UsageProblem is why it is not known what it used, and Charts show that.
	UsageProblem string
	Charts       []chart
}

func workloadView(o *print.Output, one *oneWorkload, r *http.Request) any {
	namespace := r.PathValue("namespace")
	v := struct {
		Summary, Pods                                         table
		SummaryProblem, PodProblem, NeedProblem, EventProblem string
		Most                                                  int
		// HasMore means that the list is not whole, and More shows all; it is empty if no command does.
		HasMore     bool
		More        []toCopy
		Needs       []containerNeed
		Events      []entryView
		OlderEvents string
		Holds       table
		// HoldProblem is why holds are not known, and HoldsUnread why these are the last ones that could be read.
		HoldProblem, HoldsUnread string
		// Frozen says that the cluster is frozen; empty if it is not.
		Frozen  []segment
		Actions []action
		Trend   trendView
	}{
		SummaryProblem: one.list.Problem, PodProblem: one.plans.Problem, NeedProblem: one.needs.Problem, EventProblem: one.entries.Problem,
		HasMore: one.more, Most: mostPods, Events: entryViews(one.entries.Value.entries), Trend: trendOf(one.trend),
	}
	if c := print.CommandOf("resizectl plan SCOPE", map[string]print.Command{"SCOPE": print.ScopeArguments(scopeOf(namespace, named(r)))}); one.more && c != nil {
		v.More = actions(o, c)
	}
	if one.entries.Value.more {
		v.OlderEvents = path("/history", url.Values{"namespace": {namespace}, "workload": {print.WorkloadName(named(r))}})
	}
	of := one.list.Value.GetWorkloads()
	v.Summary = tableOf(workloads.Kind(false).Table(of...), true, func(row int) string { return workloadKey(of[row].GetSavings()) }, nil).oneUnit()
	shown := plans.Table(false, one.plans.Value...)
	v.Pods = tableOf(shown, false, func(row int) string { return print.CellText(shown, row, 0) + "/" + print.CellText(shown, row, 1) }, func(_ int, column, text string) string {
		if column == "Pod" {
			return podPath(namespace, text)
		}
		return whereOf(column, text)
	}).oneUnit()
	for _, e := range one.needs.Value.GetContainers() {
		lines, err := usage.Steps(o.Painter(), e, one.needs.Value.GetCurrency())
		if err != nil {
			lines = []string{"Unknown: " + err.Error()}
		}
		of := e.GetRecommendation()
		used := one.needs.Value.used[nameOf(of)]
		key := print.OneLine(strings.Join([]string{of.GetWorkload().GetKind(), of.GetWorkload().GetName(), of.GetContainer(), of.GetRule()}, "/"))
		v.Needs = append(v.Needs, containerNeed{key, print.OneLine(of.GetContainer()), steps(o, lines), used.Problem, distributionsOf(used.Value)})
	}
	scope := scopeOf(namespace, named(r))
	held := covering(one.holds.Value.GetHolds(), scope)
	v.HoldProblem, v.HoldsUnread = one.holds.Problem, print.OneLine(one.holds.Value.GetProblem())
	v.Holds, v.Actions = holdTable(o, held), holdActions(o, held, scope, v.HoldProblem == "")
	if freeze := one.holds.Value.GetFreeze(); freeze != nil {
		v.Frozen = segments("The cluster is frozen since " + print.Timestamp(freeze.GetCreateTime()) + ": nothing is written to its pods.")
		v.Actions = []action{{"End the freeze", actions(o, print.Command{"resizectl", "unfreeze"})}} // Until then, nothing else does anything.
	}
	return v
}

// action is what a person can do, and the commands for it.
type action struct {
	Title    string
	Commands []toCopy
}
