package pages

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/workload-resizer/workload-resizer/client"
	journal "github.com/workload-resizer/workload-resizer/cmd/resizectl/history"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/status"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/usage"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

const (
	// lately is how far the list of reverts goes back.
	lately = "24h"
	// mostReverts is how many reverts the overview lists.
	mostReverts = 10
	// mostThrottled is up to how many throttled workloads the overview counts.
	mostThrottled = 10
)

// overview is what the overview reads.
type overview struct {
	status  part[*workloadresizerv1.GetStatusResponse]
	savings part[*workloadresizerv1.ListSavingsResponse]
	holds   part[*workloadresizerv1.ListHoldsResponse]
	reverts part[latest]
	trend   part[trend]
	// throttled are the workloads with most throttled pods, or others if fewer have any.
	throttled part[*workloadresizerv1.ListWorkloadsResponse]
	// problem is why nothing could be read; empty if something was.
	problem string
}

var overviewPage = page{
	pattern: "/{$}", nav: "Overview", template: "overview",
	title: func(*http.Request) string { return "Overview" },
	key:   func(r *http.Request) string { of := trendOptionsOf(r.URL.Query()); return of.Days + " " + of.Namespace },
	read:  readOverview,
	view: func(o *print.Output, value any, r *http.Request) any {
		v := overviewOf(o, value.(*overview))
		v.TrendOptions = trendOptionsOf(r.URL.Query())
		v.TrendIn = v.TrendOptions.in(&value.(*overview).trend.Value)
		return v
	},
	refused: func(problem string) any { return &overview{problem: problem} },
}

func readOverview(ctx context.Context, c *client.Client, r *http.Request) (any, error) {
	reverts, err := journal.Filter{Kinds: []string{reverted}, Since: lately}.Request(time.Now())
	if err != nil {
		return nil, err
	}
	reverts.PageSize = mostReverts
	of, past := trendOptionsOf(r.URL.Query()), total()
	past.Namespace = of.Namespace
	var all overview
	var parts errgroup.Group
	read(ctx, &parts, &all.status, func() (*workloadresizerv1.GetStatusResponse, error) { return c.Status(ctx) })
	read(ctx, &parts, &all.savings, func() (*workloadresizerv1.ListSavingsResponse, error) { return c.ListSavings(ctx, total()) })
	read(ctx, &parts, &all.holds, func() (*workloadresizerv1.ListHoldsResponse, error) { return c.ListHolds(ctx, "") })
	read(ctx, &parts, &all.reverts, func() (latest, error) { return latestOf(ctx, c, reverts) })
	read(ctx, &parts, &all.trend, func() (trend, error) { return listTrend(ctx, c, past, of.Days) })
	read(ctx, &parts, &all.throttled, func() (*workloadresizerv1.ListWorkloadsResponse, error) {
		return c.Cluster().ListWorkloads(ctx, &workloadresizerv1.ListWorkloadsRequest{OrderBy: mostThrottledFirst, PageSize: mostThrottled})
	})
	return &all, parts.Wait()
}

// mostThrottledFirst is the order of the API that begins with the workloads that have most throttled pods.
const mostThrottledFirst = "throttled desc"

// throttledNote returns what to know of workloads that their CPU limits throttle, and whether there are any.
func throttledNote(o *print.Output, first []*workloadresizerv1.WorkloadSummary) (n note, some bool) {
	count := 0
	for _, w := range first {
		if w.GetThrottled() > 0 {
			count++
		}
	}
	workloads := print.CountOf(int64(count), "workload")
	if count >= mostThrottled {
		workloads = "at least " + workloads
	}
	n = noteOf(o, "throttled", "CPU limits throttle pods of "+workloads+" so often that their usage does not show how much CPU they need: ")
	n.Bad, n.More = true, &link{Name: "these workloads, most throttled pods first", Path: path(workloadsPage.path(), url.Values{"order": {mostThrottledFirst}})}
	return n, count > 0
}

// reverted is the kind of a revert in the history.
var reverted = print.EntryKind(workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_REVERT)

func total() *workloadresizerv1.ListSavingsRequest {
	return &workloadresizerv1.ListSavingsRequest{Group: workloadresizerv1.SavingsGroup_SAVINGS_GROUP_TOTAL}
}

// read lets a group read a part of a page.
func read[T any](ctx context.Context, group *errgroup.Group, to *part[T], ask func() (T, error)) {
	group.Go(func() (err error) {
		*to, err = partOf(inTurn(ctx, ask))
		return err
	})
}

// overviewView is what the overview shows.
type overviewView struct {
	// Unread reports whether nothing could be read. The form keeps the choices, next to why.
	Unread       bool
	Attention    []note
	Sums         *sumsView
	Trend        trendView
	TrendOptions trendOptions
	// TrendIn says which time it is about.
	TrendIn       string
	SumsProblem   string
	Pods          table
	StatusProblem string
	// ThrottledProblem is why throttled workloads are not known.
	ThrottledProblem string
	Waits            string
	Reverts          []entryView
	RevertProblem    string
	// OlderReverts leads to all reverts of that time if there are more of them.
	OlderReverts string
	// Incomplete reports whether the history has gaps, in which more may have been reverted.
	Incomplete  bool
	Holds       table
	HoldProblem string
	// HoldsUnread is why these are the last holds that could be read, and not those that are stored.
	HoldsUnread string
	Server      []note
	Actions     []action
}

// statusNote returns a line of a status. It is bad if it needs a person.
func statusNote(o *print.Output, line *status.Line) note {
	n := noteOf(o, line.Name, line.Text+line.More, line.Commands...)
	n.Bad = line.Kind == status.Alarm
	return n
}

func overviewOf(o *print.Output, all *overview) *overviewView {
	if all.problem != "" {
		return &overviewView{Unread: true, Trend: trendView{Problem: all.problem}}
	}
	v := &overviewView{
		SumsProblem: all.savings.Problem, StatusProblem: all.status.Problem, HoldProblem: all.holds.Problem, RevertProblem: all.reverts.Problem, ThrottledProblem: all.throttled.Problem,
		Sums: sumsOf(all.savings.Value), Trend: trendOf(all.trend), Reverts: entryViews(all.reverts.Value.entries),
	}
	if n, some := throttledNote(o, all.throttled.Value.GetWorkloads()); some {
		v.Attention = append(v.Attention, n)
	}
	if s := all.status.Value; s != nil {
		v.Waits = print.Queue(s)
		for _, line := range status.Lines(o, s) {
			switch n := statusNote(o, &line); line.Kind {
			case status.Alarm:
				v.Attention = append(v.Attention, n)
			case status.Fact:
				v.Server = append(v.Server, n)
			case status.Count: // Other parts of the page list them.
			}
		}
		v.Pods = podCounts(s.GetPods())
		if s.GetFreeze() == nil { // Otherwise, its line has the command that ends it.
			v.Actions = []action{{"Stop all resizes in an emergency", actions(o, print.Command{"resizectl", "freeze"})}}
		}
	}
	if all.reverts.Value.more {
		v.OlderReverts = path("/history", url.Values{"kind": {reverted}, "since": {lately}})
	}
	held := all.holds.Value.GetHolds()
	v.Incomplete = slices.ContainsFunc(all.reverts.Value.entries, journal.IsGap)
	v.HoldsUnread = print.OneLine(all.holds.Value.GetProblem())
	v.Holds = holdTable(o, held)
	v.Actions = append(v.Actions, endsOf(o, held)...)
	return v
}

// podCounts is a table of pods by decision and reason, which leads to their workloads.
func podCounts(counts []*workloadresizerv1.PodCount) table {
	t := table{Columns: []column{{Name: "Decision"}, {Name: "Reason"}, {Name: "Pods", Class: "number"}}}
	for _, n := range counts {
		filter := url.Values{"decision": {print.Decision(n.GetDecision())}}
		if n.GetCode() != "" {
			filter.Set("reason", n.GetCode())
		}
		t.Rows = append(t.Rows, tableRow{
			Key: n.GetDecision().String() + "/" + n.GetCode(),
			Cells: []cell{
				{Text: print.Decision(n.GetDecision()), Href: path("/workloads", filter)},
				{Text: print.OrAbsent(print.OneLine(n.GetCode()))}, {Text: strconv.FormatInt(n.GetPods(), 10), Class: "number"},
			},
		})
	}
	return t
}

// sumsView are the sums over all pods that the caller can see.
type sumsView struct {
	Rows []sumRow
	Cost bool
	// Unknown says of how many pods the usage is not known.
	Unknown string
}

type sumRow struct{ Name, Means, CPU, Memory, Cost string }

// sumsOf returns the total that the server has added up; nil if it has none.
func sumsOf(resp *workloadresizerv1.ListSavingsResponse) *sumsView {
	if len(resp.GetSavings()) != 1 {
		return nil
	}
	s := resp.GetSavings()[0]
	v := &sumsView{Cost: s.AuthoredCost != nil}
	var saved *float64
	if s.AuthoredCost != nil && s.RequestedCost != nil {
		saved = new(s.GetAuthoredCost() - s.GetRequestedCost())
	}
	for _, row := range []struct {
		name, means string
		of          *workloadresizerv1.ResourceAmounts
		cost        *float64
	}{
		{"Authored", "what pods would request as their authors wrote them", s.GetAuthored(), s.AuthoredCost},
		{"Applied", "what pods request now", s.GetRequested(), s.RequestedCost},
		{"Saved", "authored minus applied", s.GetSaved(), saved},
		{"Used", "the mean of CPU, and of the highest memory of each day", s.GetUsed(), s.UsedCost},
	} {
		cost := print.Absent
		if row.cost != nil {
			cost = usage.Month(*row.cost, resp.GetCurrency())
		}
		v.Rows = append(v.Rows, sumRow{row.name, row.means, print.CPU.Amount(row.of.GetCpu()), print.Memory.Amount(row.of.GetMemory()), cost})
	}
	for _, of := range []struct {
		title string
		text  func(*sumRow) *string
	}{{print.CPU.Title, func(r *sumRow) *string { return &r.CPU }}, {print.Memory.Title, func(r *sumRow) *string { return &r.Memory }}} {
		texts := make([]string, len(v.Rows))
		for i := range v.Rows {
			texts[i] = *of.text(&v.Rows[i])
		}
		for i, text := range inOneUnit(unitsOf[of.title], texts) {
			*of.text(&v.Rows[i]) = text
		}
	}
	if n := s.GetUnknownPods(); n > 0 {
		v.Unknown = "Used leaves out " + strconv.FormatInt(n, 10) + " of " + print.CountOf(s.GetPods(), "pod") + ": " + unmeasured + "."
	}
	return v
}
