package workloads

import (
	"fmt"
	"slices"
	"strings"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// Kind describes workloads; withNamespace adds a column with the namespace.
func Kind(withNamespace bool) objects.Kind[workload, workload] {
	columns := []objects.Column[workload]{
		objects.Cell("Workload", func(w workload) any { return workloadText(w) }),
		objects.Count("Pods", func(w workload) int64 { return w.GetSavings().GetPods() }),
		notable("Unknown", func(w workload) int64 { return w.GetSavings().GetUnknownPods() }),
		objects.Cell("Decision", func(w workload) any {
			return shared(w, func(c *workloadresizerv1.PodCount) string { return print.Decision(c.GetDecision()) })
		}),
	}
	for _, r := range []print.Resource{print.CPU, print.Memory} {
		columns = append(columns,
			objects.Cell(r.Title, func(w workload) any {
				return r.Change(r.Of(w.GetSavings().GetAuthored()), r.Of(w.GetSavings().GetRequested()))
			}),
			known(r.Title+" Used", r, func(w workload) *workloadresizerv1.ResourceAmounts { return w.GetSavings().GetUsed() }),
			known(r.Title+" Need", r, workload.GetRecommended))
	}
	columns = append(columns,
		objects.Cell("Reason", func(w workload) any { return shared(w, (*workloadresizerv1.PodCount).GetCode) }),
		notable("Throttled", workload.GetThrottled).Wide(),
		notable("Reverts", func(w workload) int64 { return w.GetSavings().GetReverts() }).Wide(),
		notable("OOM Kills", func(w workload) int64 { return w.GetSavings().GetOomKills() }).Wide())
	if withNamespace {
		columns = slices.Insert(columns, 0, objects.Text("Namespace", func(w workload) string { return w.GetSavings().GetNamespace() }))
	}
	return objects.Kind[workload, workload]{Name: name, Rows: objects.Itself[workload], Columns: columns}
}

// name returns the name of a workload in kubectl's form; that of the namespace for pods that count for no workload.
func name(w workload) string {
	if w.GetSavings().GetWorkload() == nil {
		return "namespace/" + w.GetSavings().GetNamespace()
	}
	return workloadText(w)
}

func workloadText(w workload) string {
	if w.GetSavings().GetWorkload() == nil {
		return print.Absent
	}
	return print.WorkloadName(w.GetSavings().GetWorkload())
}

// notable is a column of lists in which any number is not 0.
func notable(header string, of func(workload) int64) objects.Column[workload] {
	return objects.Cell(header, func(w workload) any {
		if n := of(w); n != 0 {
			return print.Cell{Text: fmt.Sprint(n), Style: print.Notable}
		}
		return print.Absent
	}).IfAny()
}

// known is a column of amounts that are known if the usage of a pod is, in lists in which any is known.
func known(header string, r print.Resource, of func(workload) *workloadresizerv1.ResourceAmounts) objects.Column[workload] {
	return objects.Cell(header, func(w workload) any {
		if w.GetSavings().GetPods() == w.GetSavings().GetUnknownPods() {
			return print.Absent
		}
		return r.Amount(r.Of(of(w)))
	}).IfAny()
}

// shared returns what all pods of a workload have, or how many have what, most first, e.g. "2 resize, 1 aligned".
func shared(w workload, of func(*workloadresizerv1.PodCount) string) string {
	var words []string
	pods := map[string]int64{}
	for _, c := range w.GetPods() {
		word := print.OrAbsent(print.OneLine(of(c)))
		if pods[word] == 0 {
			words = append(words, word)
		}
		pods[word] += c.GetPods()
	}
	slices.SortStableFunc(words, func(a, b string) int { return int(pods[b] - pods[a]) })
	switch len(words) {
	case 0:
		return print.Absent
	case 1:
		return words[0]
	}
	words = slices.DeleteFunc(words, func(word string) bool { return word == print.Absent })
	return strings.Join(print.Each(words, func(word string) string { return fmt.Sprint(pods[word], " ", word) }), ", ")
}
