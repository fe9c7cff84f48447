package usage

import (
	"fmt"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// by is what a row is about.
type by string

const (
	byNamespace by = "namespace"
	byWorkload  by = "workload"
	byContainer by = "container"
)

// groupings are the values of --by.
var groupings = []string{string(byNamespace), string(byWorkload), string(byContainer)}

// report is what the server listed, added up. All sums are computed here.
type report struct {
	items      []*workloadresizerv1.Recommendation
	currency   string
	Containers []*row
	Workloads  []*row
	Namespaces []*row
	Total      row
}

// row is what a row of a table is about, and its sums.
type row struct {
	Namespace string    `json:"namespace,omitempty"`
	Workload  *workload `json:"workload,omitempty"`
	Container string    `json:"container,omitempty"`
	Rule      string    `json:"rule,omitempty"`
	sums
	// item is the recommendation of a row about a container.
	item *workloadresizerv1.Recommendation
}

type workload struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// GetKind and GetName make it a workload for print.WorkloadName.
func (w *workload) GetKind() string { return w.Kind }

// GetName returns the name.
func (w *workload) GetName() string { return w.Name }

// reportOf adds up recommendations, which are ordered by namespace and workload.
func reportOf(resp *workloadresizerv1.ListRecommendationsResponse) (*report, error) {
	all := &report{items: resp.GetRecommendations(), currency: resp.GetCurrency()}
	for _, item := range all.items {
		of := item.GetWorkload()
		what := workload{of.GetKind(), of.GetName()}
		container := &row{Namespace: item.GetNamespace(), Workload: &what, Container: item.GetContainer(), Rule: item.GetRule(), item: item}
		if err := container.read(item.GetSums()); err != nil {
			return nil, fmt.Errorf("read the sums of container %s of %s in namespace %s: %w", item.GetContainer(), print.WorkloadName(&what), item.GetNamespace(), err)
		}
		all.Containers = append(all.Containers, container)
		if last := end(all.Namespaces); last == nil || last.Namespace != container.Namespace {
			all.Namespaces = append(all.Namespaces, &row{Namespace: container.Namespace})
		}
		if last := end(all.Workloads); last == nil || last.Namespace != container.Namespace || *last.Workload != what {
			all.Workloads = append(all.Workloads, &row{Namespace: container.Namespace, Workload: &what})
		}
		for _, to := range []*row{end(all.Workloads), end(all.Namespaces), &all.Total} {
			to.add(&container.sums)
		}
	}
	return all, nil
}

func end(rows []*row) *row {
	if len(rows) == 0 {
		return nil
	}
	return rows[len(rows)-1]
}

// rows returns the rows of a table.
func (r *report) rows(by by) []*row {
	switch by {
	case byNamespace:
		return r.Namespaces
	case byContainer:
		return r.Containers
	}
	return r.Workloads
}

// priced reports whether the server has prices.
func (r *report) priced() bool { return r.currency != "" || r.Total.authoredCost != nil }
