package pages

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/console/rows"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/workloads"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

var workloadsPage = page{
	pattern: "/workloads", nav: "Workloads", template: "workloads",
	title: func(*http.Request) string { return "Workloads" },
	key:   func(r *http.Request) string { return onlyIn(rows.Parse(r.URL.Query())) }, // All windows are of the same rows.
	read: func(ctx context.Context, c *client.Client, r *http.Request) (any, error) {
		table, err := allWorkloads(ctx, c, onlyIn(rows.Parse(r.URL.Query())))
		if of, _ := partOf(table, err); of.Denied {
			of.Value = rows.New(nil)
			return of, nil
		}
		return part[*rows.Table]{Value: table}, err // Otherwise, the page keeps the last list.
	},
	view: func(_ *print.Output, value any, r *http.Request) any {
		return workloadsView(value.(part[*rows.Table]), rows.Parse(r.URL.Query()))
	},
	refused: func(problem string) any { return part[*rows.Table]{Value: rows.New(nil), Problem: problem} },
	narrow: func(r *http.Request, value any) string {
		q := rows.Parse(r.URL.Query())
		if !value.(part[*rows.Table]).Denied || q.Only || q.Namespace == "" {
			return ""
		}
		q.Only = true
		return path(r.URL.Path, q.Values())
	},
}

// onlyIn returns the only namespace that a query reads; empty for all.
func onlyIn(q rows.Query) string {
	if q.Only {
		return q.Namespace
	}
	return ""
}

// allWorkloads reads the workloads in a namespace; in all of them if it is empty.
func allWorkloads(ctx context.Context, c *client.Client, namespace string) (*rows.Table, error) {
	all, err := c.ListWorkloads(ctx, &workloadresizerv1.ListWorkloadsRequest{Namespace: namespace, PageSize: connect.MostOnPage})
	if err != nil {
		return nil, err
	}
	return rows.New(all.GetWorkloads()), nil
}

// workloadList is what the page of all workloads shows.
type workloadList struct {
	rows.Query
	rows.Window
	Table                          table
	Namespaces, Decisions, Reasons []string
	Orders                         []choice
	Shown                          window
	Problem                        string
	// Denied means that the caller may not see all workloads, but perhaps those of a namespace.
	Denied bool
}

// orderNames are the words for the orders to choose from: by name, or the largest amount first.
var orderNames = map[string]string{
	"name": "by name", "pods": "most pods first", "reverts": "most reverts first", "requested_cpu": "largest CPU first", "requested_memory": "largest memory first",
	"saved_cpu": "most CPU saved first", "saved_memory": "most memory saved first", "throttled": "most throttled pods first",
}

// orders are the orders to choose from. None leads to the default order.
func orders(chosen rows.Query) (all []choice) {
	for _, word := range workloads.Orders {
		value := (rows.Query{}).By(word).Values().Get("order")
		all = append(all, choice{Name: cmp.Or(orderNames[word], word), Value: value, Chosen: value == chosen.Values().Get("order")})
	}
	return all
}

// sortable are the orders of columns.
var sortable = map[string]string{"Workload": "name", "Pods": "pods", "Reverts": "reverts", "CPU": "requested_cpu", "Memory": "requested_memory", "Throttled": "throttled"}

func workloadsView(read part[*rows.Table], q rows.Query) any {
	all := read.Value
	l := workloadList{Query: q, Window: all.Window(q), Namespaces: withChosen(all.Namespaces(), q.Namespace), Decisions: print.Each(workloads.Decisions, print.Decision), Reasons: withChosen(all.Reasons(), q.Reason), Orders: orders(q), Problem: read.Problem, Denied: read.Denied}
	l.Query.From = l.Window.From
	l.Table = tableOf(workloads.Kind(true).Table(l.Rows...), true,
		func(row int) string { return workloadKey(l.Rows[row].GetSavings()) },
		func(row int, column, _ string) string {
			if column == "Workload" {
				return workloadPath(l.Rows[row].GetSavings().GetNamespace(), l.Rows[row].GetSavings().GetWorkload())
			}
			return ""
		}).oneUnit()
	for i, c := range l.Table.Columns {
		by, ok := sortable[c.Name]
		if !ok {
			continue
		}
		l.Table.Columns[i].Order = path("/workloads", q.By(by).Values())
		if q.Order == by {
			l.Table.Columns[i].Sorted = map[bool]string{false: "ascending", true: "descending"}[q.Descending]
		}
	}
	l.Shown = windowOf(l.Window.From, len(l.Rows), l.Matching, l.at)
	return l
}

// at returns the address of a window.
func (l workloadList) at(from int) string {
	q := l.Query
	q.From = from
	return path("/workloads", q.Values())
}

// workloadKey identifies a workload.
func workloadKey(s *workloadresizerv1.Savings) string {
	return fmt.Sprintf("%s/%s/%s", s.GetNamespace(), s.GetWorkload().GetKind(), s.GetWorkload().GetName())
}

// workloadPath returns the address of the page of a workload; empty if there is none.
func workloadPath(namespace string, of *workloadresizerv1.Workload) string {
	if namespace == "" || of.GetKind() == "" || of.GetName() == "" {
		return ""
	}
	return "/workloads/" + url.PathEscape(namespace) + "/" + url.PathEscape(of.GetKind()) + "/" + url.PathEscape(of.GetName())
}

// podPath returns the address of the page of a pod.
func podPath(namespace, pod string) string {
	if namespace == "" || pod == "" {
		return ""
	}
	return "/pods/" + url.PathEscape(namespace) + "/" + url.PathEscape(pod)
}

// path returns an address with parameters.
func path(to string, values url.Values) string {
	if len(values) == 0 {
		return to
	}
	return to + "?" + values.Encode()
}
