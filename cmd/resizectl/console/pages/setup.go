package pages

import (
	"context"
	"net/http"

	"golang.org/x/sync/errgroup"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/benchmarks"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/ratios"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/status"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/usage"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// setup is what the page of the setup reads.
type setup struct {
	status      part[*workloadresizerv1.GetStatusResponse]
	ratios      part[*workloadresizerv1.ListRatiosResponse]
	usage       part[*workloadresizerv1.GetUsageStatusResponse]
	feeds       part[[]*workloadresizerv1.Feed]
	suggestions part[*workloadresizerv1.ListSuggestionsResponse]
}

var setupPage = page{
	pattern: "/setup", nav: "Setup", template: "setup",
	title: func(*http.Request) string { return "Setup" },
	key:   func(*http.Request) string { return "" },
	read: func(ctx context.Context, c *client.Client, _ *http.Request) (any, error) {
		var all setup
		var parts errgroup.Group
		read(ctx, &parts, &all.status, func() (*workloadresizerv1.GetStatusResponse, error) { return c.Status(ctx) })
		read(ctx, &parts, &all.ratios, func() (*workloadresizerv1.ListRatiosResponse, error) { return c.ListRatios(ctx) })
		read(ctx, &parts, &all.usage, func() (*workloadresizerv1.GetUsageStatusResponse, error) { return c.GetUsageStatus(ctx) })
		read(ctx, &parts, &all.feeds, func() (feeds []*workloadresizerv1.Feed, err error) {
			for feed, err := range c.ListFeeds(ctx) {
				if err != nil {
					return nil, err
				}
				feeds = append(feeds, feed)
			}
			return feeds, nil
		})
		read(ctx, &parts, &all.suggestions, func() (*workloadresizerv1.ListSuggestionsResponse, error) { return c.ListSuggestions(ctx) })
		return &all, parts.Wait()
	},
	view: func(o *print.Output, value any, _ *http.Request) any { return setupView(o, value.(*setup)) },
}

// setupPart is what the page shows of one thing that can be set up.
type setupPart struct {
	Title string
	// Problem is why it is not known, and Empty what to say without any.
	Problem, Empty string
	Table          table
	Notes          []note
}

func setupView(o *print.Output, all *setup) any {
	v := struct {
		Server  []note
		Problem string
		Parts   []setupPart
	}{Problem: all.status.Problem}
	if s := all.status.Value; s != nil {
		for _, line := range status.Lines(o, s) {
			v.Server = append(v.Server, statusNote(o, &line))
		}
	}
	warning := func(text string) note { return warningNote(o, text) }
	sources := setupPart{
		Title: "Sources of ratios", Problem: all.ratios.Problem, Empty: "The server has no source of ratios: its flag --ratio-sources names them.",
		Table: sourceTable(all.ratios.Value.GetSources()), Notes: eachNote(ratios.SourceWarnings(all.ratios.Value.GetSources()), warning),
	}
	usages, feeds, suggestions := all.usage.Value, all.feeds.Value, all.suggestions.Value.GetSuggestions()
	v.Parts = []setupPart{
		sources,
		{
			Title: "Usage", Problem: all.usage.Problem, Empty: "The server reads no source of usage: its flag --usage-sources names them.",
			Table: tableOf(usage.SourceKind(o, usages.GetCollecting()).Table(usages.GetSources()...), true, func(row int) string { return usages.GetSources()[row].GetName() }, nil),
			Notes: eachNote(usage.SourceWarnings(usages), warning),
		},
		{
			Title: "Feeds of benchmarks", Problem: all.feeds.Problem, Empty: "The server reads no feed of benchmarks: its benchmark settings name none.",
			Table: tableOf(benchmarks.FeedKind(o).Table(feeds...), true, func(row int) string { return feeds[row].GetName() }, nil),
			Notes: eachNote(benchmarks.FeedWarnings(feeds), warning),
		},
		{
			Title: "Suggested ratios", Problem: all.suggestions.Problem, Empty: "Nothing is suggested.",
			Table: tableOf(benchmarks.SuggestionKind(o).Table(suggestions...), true, func(row int) string { return suggestions[row].GetNodeType() }, nil),
			Notes: eachNote(suggestions, func(s *workloadresizerv1.Suggestion) note {
				title, accept := ": nothing to accept yet; look at what was measured", print.Command(nil)
				of := map[string]print.Command{"TYPE": print.Argument(s.GetNodeType())}
				cpu, memory := benchmarks.Shown(s)
				switch {
				case cpu > 0:
					title, accept = ": look at what production shows, then accept it", print.CommandOf("resizectl benchmark accept TYPE --from production", of)
				case acceptable(s):
					cpu, memory = s.GetCpuPerf(), s.GetMemoryPerf()
					title, accept = ": look at the suggestion, then accept it", print.CommandOf("resizectl benchmark accept TYPE", of)
					if benchmarks.Contradicted(s) {
						title = ": look at the suggestion, which production contradicts, before you accept it"
					}
				}
				n := noteOf(o, "", print.OneLine(s.GetNodeType())+title, present(print.CommandOf("resizectl ratios suggest TYPE", of), accept)...)
				n.More = impactOf(s.GetNodeType(), cpu, memory)
				return n
			}),
		},
	}
	for i := range v.Parts {
		v.Parts[i].Table.Label = v.Parts[i].Title
	}
	return v
}

// sourceTable is a table of where ratios come from, in the order in which they are tried.
func sourceTable(sources []*workloadresizerv1.RatioSource) table {
	t := table{Columns: []column{{Name: "Source"}, {Name: "State"}, {Name: "In Effect Since"}}}
	for _, s := range sources {
		state := cell{Text: "good"}
		if !s.GetHealthy() {
			state = cell{Text: print.OneLine(s.GetMessage()), Class: "bad"}
		}
		t.Rows = append(t.Rows, tableRow{Key: s.GetName(), Cells: []cell{{Text: print.OneLine(s.GetName())}, state, {Text: print.Timestamp(s.GetLastGoodTime())}}})
	}
	return t
}
