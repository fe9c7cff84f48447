package pages

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/nodes"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/ratios"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// nodeList is what the page of the nodes reads.
type nodeList struct {
	nodes       part[[]*workloadresizerv1.NodeSummary]
	ratios      part[ratioTable]
	suggestions part[[]*workloadresizerv1.Suggestion]
	// unread means that nothing could be read yet.
	unread bool
}

// ratioTable is the ratios of most pods, and the rules that others have.
type ratioTable struct {
	*workloadresizerv1.ListRatiosResponse
	rules []*workloadresizerv1.RatioRule
}

var nodesPage = page{
	pattern: "/nodes", nav: "Nodes", template: "nodes",
	title: func(*http.Request) string { return "Nodes and ratios" },
	// Pages of all types share what is read.
	key: func(r *http.Request) string { return map[bool]string{true: "of a type"}[typeIn(r) != ""] },
	read: func(ctx context.Context, c *client.Client, r *http.Request) (any, error) {
		var all nodeList
		var parts errgroup.Group
		read(ctx, &parts, &all.nodes, func() ([]*workloadresizerv1.NodeSummary, error) { return allNodes(ctx, c) })
		read(ctx, &parts, &all.ratios, func() (ratioTable, error) {
			known, rules, err := c.ListRatiosAndRules(ctx)
			return ratioTable{known, rules.GetRules()}, err
		})
		if typeIn(r) != "" { // Only the page of a type shows suggestions.
			read(ctx, &parts, &all.suggestions, func() ([]*workloadresizerv1.Suggestion, error) {
				resp, err := c.ListSuggestions(ctx)
				return resp.GetSuggestions(), err
			})
		}
		return &all, parts.Wait()
	},
	view: func(o *print.Output, value any, r *http.Request) any {
		return nodesView(o, value.(*nodeList), r)
	},
	refused: func(problem string) any {
		return &nodeList{nodes: part[[]*workloadresizerv1.NodeSummary]{Problem: problem}, unread: true}
	},
}

// typeIn returns the type whose nodes a page is about; empty for all.
func typeIn(r *http.Request) string { return r.URL.Query().Get("type") }

func allNodes(ctx context.Context, c *client.Client) (all []*workloadresizerv1.NodeSummary, err error) {
	for n, err := range c.ListNodes(ctx, &workloadresizerv1.ListNodesRequest{PageSize: connect.MostOnPage}) {
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}

func nodesView(o *print.Output, all *nodeList, r *http.Request) any {
	ofType, shown, types := typeIn(r), all.nodes.Value, []string{}
	for _, n := range shown {
		if t := n.GetNodeType(); t != "" && !slices.Contains(types, t) {
			types = append(types, t)
		}
	}
	slices.Sort(types)
	types = withChosen(types, ofType)
	if ofType != "" {
		shown = slices.DeleteFunc(slices.Clone(shown), func(n *workloadresizerv1.NodeSummary) bool { return n.GetNodeType() != ofType })
	}
	shown, in := windowIn(r, shown)
	known, rules := all.ratios.Value.GetRatios(), all.ratios.Value.rules
	return struct {
		Nodes, Ratios, Rules      table
		NodeProblem, RatioProblem string
		Unread                    bool
		Types                     []string
		Type                      string
		Shown                     window
		All                       int
		Warnings                  []note
		Actions                   []action
		Ratio                     *ratioView
	}{
		Nodes: tableOf(nodes.Kind(o).Table(shown...), false, func(row int) string { return shown[row].GetName() }, func(_ int, column, text string) string {
			switch column {
			case "Name":
				return nodePath(text)
			case "Type":
				return typePath(text)
			}
			return ""
		}).oneUnit(),
		Ratios: tableOf(ratios.Kind(o).Table(known...), true, func(row int) string { return known[row].GetNodeType() }, func(row int, column, _ string) string {
			if column == "Node Type" {
				return typePath(known[row].GetNodeType())
			}
			return ""
		}),
		Rules:       sheet("Rules", ratios.RuleTable(rules)),
		NodeProblem: all.nodes.Problem, RatioProblem: all.ratios.Problem, Unread: all.unread,
		Types: types, Type: ofType, Shown: in, All: len(all.nodes.Value),
		Actions:  ratioActions(o, &all.ratios, all.suggestions.Value, ofType),
		Ratio:    ratioOf(o, ofType, &all.ratios, all.suggestions),
		Warnings: eachNote(append(ratios.UnusedWarnings(known, rules...), ratios.SourceWarnings(all.ratios.Value.GetSources())...), func(text string) note { return warningNote(o, text) }),
	}
}

// typePath returns the address of the nodes of a type, and of its ratio.
func typePath(nodeType string) string { return path("/nodes", url.Values{"type": {nodeType}}) }

// whereOf returns where the cell of a table of pods leads that says where a pod runs; empty for other cells.
func whereOf(column, text string) string {
	switch column {
	case "Node":
		return nodePath(text)
	case "Type":
		return typePath(text)
	}
	return ""
}
