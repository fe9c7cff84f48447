package rows

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// Most is how many rows a window has at most.
const Most = 100

// Workload is what a row is about.
type Workload = *workloadresizerv1.WorkloadSummary

// byName is the default order.
const byName = "name"

// amounts are what the other orders compare. Orders have the words of the API.
var amounts = map[string]func(Workload) float64{
	"pods":             func(w Workload) float64 { return float64(w.GetSavings().GetPods()) },
	"reverts":          func(w Workload) float64 { return float64(w.GetSavings().GetReverts()) },
	"requested_cpu":    func(w Workload) float64 { return print.Number(w.GetSavings().GetRequested().GetCpu(), 1) },
	"requested_memory": func(w Workload) float64 { return print.Number(w.GetSavings().GetRequested().GetMemory(), 1) },
	"saved_cpu":        func(w Workload) float64 { return print.Number(w.GetSavings().GetSaved().GetCpu(), 1) },
	"saved_memory":     func(w Workload) float64 { return print.Number(w.GetSavings().GetSaved().GetMemory(), 1) },
	"throttled":        func(w Workload) float64 { return float64(w.GetThrottled()) },
}

// row is a workload, with what it is found by.
type row struct {
	Workload
	text string
}

// Table has a row per workload. It does not change.
type Table struct {
	// rows are in the order by name.
	rows []row
	// by has the amounts of the rows by order.
	by                  map[string][]float64
	namespaces, reasons []string
}

// New returns a table of workloads.
func New(all []Workload) *Table {
	t := &Table{by: map[string][]float64{}}
	namespaces, reasons := map[string]bool{}, map[string]bool{}
	for _, w := range all {
		s := w.GetSavings()
		r := row{Workload: w}
		r.text = strings.ToLower(s.GetNamespace())
		if of := s.GetWorkload(); of != nil {
			r.text += "/" + strings.ToLower(of.GetKind()+"/"+of.GetName())
		}
		t.rows = append(t.rows, r)
		namespaces[s.GetNamespace()] = true
		for _, c := range w.GetPods() {
			if c.GetCode() != "" {
				reasons[c.GetCode()] = true
			}
		}
	}
	slices.SortStableFunc(t.rows, func(a, b row) int { return cmp.Compare(a.text, b.text) })
	for order, of := range amounts {
		by := make([]float64, len(t.rows))
		for i, r := range t.rows {
			by[i] = of(r.Workload)
		}
		t.by[order] = by
	}
	t.namespaces, t.reasons = slices.Sorted(maps.Keys(namespaces)), slices.Sorted(maps.Keys(reasons))
	return t
}

// Namespaces returns the namespaces of the workloads.
func (t *Table) Namespaces() []string { return t.namespaces }

// Reasons returns the first reasons of the decisions on their pods.
func (t *Table) Reasons() []string { return t.reasons }

// Owners returns the workloads whose pods may have a name, in a namespace or, if it is empty, in any: the name begins with theirs.
func (t *Table) Owners(namespace, pod string) (all []Workload) {
	pod = strings.ToLower(pod)
	for _, r := range t.rows {
		if namespace != "" && r.GetSavings().GetNamespace() != namespace {
			continue
		}
		if name := r.GetSavings().GetWorkload().GetName(); name != "" && strings.HasPrefix(pod, beginning(strings.ToLower(name))) {
			all = append(all, r.Workload)
		}
	}
	return all
}

// whole is how long the name of a workload is at most that the names of its pods have as a whole. Kubernetes cuts what comes before the five
// letters that it generates at 58, and an indexed Job cuts its name so that an index of up to six digits has room, between hyphens.
const whole = 58 - len("-123456-")

// beginning returns how the names of the pods of a workload begin.
func beginning(name string) string {
	if len(name) > whole {
		return name[:whole]
	}
	return name + "-"
}

// Window is a part of the rows that a query selects.
type Window struct {
	Rows []Workload
	// From is how many of the matching rows come before it, and All is how many rows there are.
	From, Matching, All int
}

// match is a row that a query selects, by its number, and the amount that it is sorted by.
type match struct {
	amount float64
	row    int
}

// Window returns the window of a query. If there are fewer rows than the query leaves out, it is the last window.
func (t *Table) Window(q Query) Window {
	q.Text = strings.ToLower(strings.TrimSpace(q.Text))
	by, sorted := t.by[q.Order]
	var matching []match
	for i, r := range t.rows {
		if !q.matches(r) {
			continue
		}
		one := match{row: i}
		if sorted {
			one.amount = by[i]
		}
		matching = append(matching, one)
	}
	switch {
	case sorted && q.Descending:
		slices.SortFunc(matching, func(a, b match) int { return cmp.Or(cmp.Compare(b.amount, a.amount), a.row-b.row) })
	case sorted:
		slices.SortFunc(matching, func(a, b match) int { return cmp.Or(cmp.Compare(a.amount, b.amount), a.row-b.row) })
	case q.Descending:
		slices.Reverse(matching)
	}
	begin, end := Bounds(q.From, len(matching))
	w := Window{From: begin, Matching: len(matching), All: len(t.rows)}
	for _, m := range matching[begin:end] {
		w.Rows = append(w.Rows, t.rows[m.row].Workload)
	}
	return w
}

// Bounds returns where the window begins and ends that leaves out so many of all rows. If there are fewer, it is the last window.
func Bounds(from, all int) (begin, end int) {
	begin = max(0, from)
	if begin >= all {
		begin = max(0, (all-1)/Most*Most)
	}
	return begin, min(begin+Most, all)
}

// matches reports whether a query, whose text is in lower case, selects a row. A decision and a reason must be those of the same pod.
func (q Query) matches(r row) bool {
	if q.Namespace != "" && r.GetSavings().GetNamespace() != q.Namespace || !strings.Contains(r.text, q.Text) {
		return false
	}
	if q.Decision == "" && q.Reason == "" {
		return true
	}
	return slices.ContainsFunc(r.GetPods(), func(c *workloadresizerv1.PodCount) bool {
		return (q.Decision == "" || print.Decision(c.GetDecision()) == q.Decision) && (q.Reason == "" || c.GetCode() == q.Reason)
	})
}
