package pages

import (
	"context"
	"net/http"
	"net/url"

	"golang.org/x/sync/errgroup"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/nodes"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// oneNode is what the page of a node reads.
type oneNode struct {
	// all has all nodes: the server names none alone.
	all   part[[]*workloadresizerv1.NodeSummary]
	plans part[[]*workloadresizerv1.Plan]
	// more reports whether it has more pods than were read.
	more bool
}

var nodePage = page{
	pattern: "/nodes/{node}", template: "node",
	title: func(r *http.Request) string { return "Node " + print.OneLine(r.PathValue("node")) },
	key:   func(r *http.Request) string { return r.PathValue("node") },
	read: func(ctx context.Context, c *client.Client, r *http.Request) (any, error) {
		var one oneNode
		var parts errgroup.Group
		read(ctx, &parts, &one.all, func() ([]*workloadresizerv1.NodeSummary, error) { return allNodes(ctx, c) })
		read(ctx, &parts, &one.plans, func() (all []*workloadresizerv1.Plan, err error) {
			all, one.more, err = firstPlans(c.PreviewPlans(ctx, "", client.OnNode(r.PathValue("node"))))
			return all, err
		})
		return &one, parts.Wait()
	},
	view: func(o *print.Output, value any, r *http.Request) any {
		return nodeView(o, value.(*oneNode), r.PathValue("node"))
	},
}

// nodePath returns the address of the page of a node; empty if there is none.
func nodePath(name string) string {
	if name == "" {
		return ""
	}
	return "/nodes/" + url.PathEscape(name)
}

func nodeView(o *print.Output, one *oneNode, name string) any {
	v := struct {
		Facts                   []note
		Pods                    table
		NodeProblem, PodProblem string
		Missing, More           bool
		Most                    int
	}{NodeProblem: one.all.Problem, PodProblem: one.plans.Problem, Missing: one.all.Problem == "", More: one.more, Most: mostPods}
	for _, n := range one.all.Value {
		if n.GetName() == name {
			v.Missing, v.Facts = false, factsOf(o, n)
		}
	}
	all := one.plans.Value
	v.Pods = planTable(all)
	return v
}

// factsOf returns each cell of the table of nodes as a line of its own: a node has more of them than a row has room for.
func factsOf(o *print.Output, n *workloadresizerv1.NodeSummary) (facts []note) {
	shown := nodes.Kind(o).Table(n)
	for i, c := range shown.ColumnDefinitions {
		if text := print.CellText(shown, 0, i); text != "" && text != print.Absent && c.Name != "Name" {
			facts = append(facts, noteOf(o, c.Name, text))
		}
	}
	return facts
}
