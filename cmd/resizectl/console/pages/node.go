package pages

import (
	"context"
	"net/http"
	"net/url"

	"golang.org/x/sync/errgroup"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/nodes"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// oneNode is what the page of a node reads.
type oneNode struct {
	// node is nil if there is no such node.
	node  part[*workloadresizerv1.NodeSummary]
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
		read(ctx, &parts, &one.node, func() (*workloadresizerv1.NodeSummary, error) { return nodeNamed(ctx, c, r.PathValue("node")) })
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

// nodeNamed returns the node of a name; nil if there is none. A server of an earlier version lists all nodes.
func nodeNamed(ctx context.Context, c *client.Client, name string) (*workloadresizerv1.NodeSummary, error) {
	for n, err := range c.ListNodes(ctx, &workloadresizerv1.ListNodesRequest{Name: name, PageSize: connect.MostOnPage}) {
		if err != nil || n.GetName() == name {
			return n, err
		}
	}
	return nil, nil
}

func nodeView(o *print.Output, one *oneNode, name string) any {
	v := struct {
		Facts                   []note
		Pods                    table
		NodeProblem, PodProblem string
		Missing                 bool
		Most                    int
		// HasMore means that the list is not whole, and More shows all; it is empty if no command does.
		HasMore bool
		More    []toCopy
	}{NodeProblem: one.node.Problem, PodProblem: one.plans.Problem, Pods: planTable(one.plans.Value), HasMore: one.more, Most: mostPods}
	if c := print.CommandOf("resizectl plan -A --node NODE", map[string]print.Command{"NODE": print.Argument(name)}); one.more && c != nil {
		v.More = actions(o, c)
	}
	if n := one.node.Value; n != nil {
		v.Facts = factsOf(o, n)
	} else {
		v.Missing = v.NodeProblem == ""
	}
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
