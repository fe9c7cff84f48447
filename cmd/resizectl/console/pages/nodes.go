package pages

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/nodes"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/ratios"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// nodeList is what the page of the nodes reads.
type nodeList struct {
	nodes  part[[]*workloadresizerv1.NodeSummary]
	ratios part[*workloadresizerv1.ListRatiosResponse]
	// suggestion is about the type that somebody has chosen.
	suggestion part[*workloadresizerv1.GetSuggestionResponse]
}

var nodesPage = page{
	pattern: "/nodes", nav: "Nodes", template: "nodes",
	title: func(*http.Request) string { return "Nodes and ratios" },
	key:   func(r *http.Request) string { return r.URL.Query().Get("type") },
	read: func(ctx context.Context, c *client.Client, r *http.Request) (any, error) {
		var all nodeList
		var err error
		if all.nodes, err = partOf(inTurn(ctx, func() ([]*workloadresizerv1.NodeSummary, error) { return allNodes(ctx, c) })); err != nil {
			return nil, err
		}
		if all.ratios, err = partOf(c.ListRatios(ctx)); err != nil {
			return nil, err
		}
		all.suggestion, err = partOf(inTurn(ctx, func() (*workloadresizerv1.GetSuggestionResponse, error) {
			return readSuggestion(ctx, c, r.URL.Query().Get("type"))
		}))
		return &all, err
	},
	view: func(o *print.Output, value any, r *http.Request) any {
		return nodesView(o, value.(*nodeList), r.URL.Query().Get("type"))
	},
}

func allNodes(ctx context.Context, c *client.Client) (all []*workloadresizerv1.NodeSummary, err error) {
	for n, err := range c.ListNodes(ctx, &workloadresizerv1.ListNodesRequest{PageSize: mostOnPage}) {
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}

func nodesView(o *print.Output, all *nodeList, ofType string) any {
	shown, types := all.nodes.Value, []string{}
	for _, n := range shown {
		if t := n.GetNodeType(); t != "" && !slices.Contains(types, t) {
			types = append(types, t)
		}
	}
	slices.Sort(types)
	if ofType != "" {
		shown = slices.DeleteFunc(slices.Clone(shown), func(n *workloadresizerv1.NodeSummary) bool { return n.GetNodeType() != ofType })
	}
	known := all.ratios.Value.GetRatios()
	filter := func(nodeType string) string { return path("/nodes", url.Values{"type": {nodeType}}) }
	return struct {
		Nodes, Ratios             table
		NodeProblem, RatioProblem string
		Types                     []string
		Type                      string
		Count, All                int
		Warnings                  []note
		Actions                   []action
		Ratio                     *ratioView
	}{
		Nodes: tableOf(nodes.Kind(o).Table(shown...), false, func(row int) string { return shown[row].GetName() }, func(_ int, column, text string) string {
			switch column {
			case "Name":
				return nodePath(text)
			case "Type":
				return filter(text)
			}
			return ""
		}),
		Ratios:      tableOf(ratios.Kind(o).Table(known...), true, func(row int) string { return known[row].GetNodeType() }, nil),
		NodeProblem: all.nodes.Problem, RatioProblem: all.ratios.Problem,
		Types: types, Type: ofType, Count: len(shown), All: len(all.nodes.Value),
		Actions:  ratioActions(o, known, ofType),
		Ratio:    ratioOf(o, ofType, known, all.suggestion),
		Warnings: eachNote(ratios.SourceWarnings(all.ratios.Value.GetSources()), func(text string) note { return noteOf(o, "", text) }),
	}
}

// ratioActions are what a person can do about the ratio of a node type; none without one.
func ratioActions(o *print.Output, known []*workloadresizerv1.Ratio, nodeType string) (all []action) {
	for _, r := range known {
		if r.GetNodeType() != nodeType {
			continue
		}
		set := nodeType + "=" + strconv.FormatFloat(r.GetCpuPerf(), 'g', -1, 64) + "/" + strconv.FormatFloat(r.GetMemoryPerf(), 'g', -1, 64)
		of := map[string]print.Command{"TYPE": print.Argument(nodeType), "RATIO": print.Argument(set)}
		for _, a := range []struct{ title, format string }{
			{"See where its ratio comes from", "resizectl ratios get TYPE"}, {"See what benchmarks suggest", "resizectl benchmark suggest TYPE"}, {"Set its ratio: change these numbers", "resizectl ratios set RATIO"},
		} {
			if c := print.CommandOf(a.format, of); c != nil {
				all = append(all, action{a.title, actions(o, c)})
			}
		}
	}
	return all
}
