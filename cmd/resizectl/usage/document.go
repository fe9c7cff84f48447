package usage

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// sumsFields are sums in documents, next to what the row is about. Unknown values are absent.
type sumsFields struct {
	Namespace         string    `json:"namespace,omitempty"`
	Workload          *workload `json:"workload,omitempty"`
	Container         string    `json:"container,omitempty"`
	Rule              string    `json:"rule,omitempty"`
	Containers        int64     `json:"containers"`
	UnknownContainers int64     `json:"unknownContainers"`
	Authored          *fields   `json:"authored"`
	Requested         *fields   `json:"requested"`
	Compared          *fields   `json:"compared,omitempty"`
	Used              *fields   `json:"used,omitempty"`
	Recommended       *fields   `json:"recommended,omitempty"`
	Saved             *fields   `json:"saved,omitempty"`
	AuthoredCost      *float64  `json:"authoredCost,omitempty"`
	RecommendedCost   *float64  `json:"recommendedCost,omitempty"`
	SavedCost         *float64  `json:"savedCost,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (r *row) MarshalJSON() ([]byte, error) {
	f := sumsFields{
		Namespace: r.Namespace, Workload: r.Workload, Container: r.Container, Rule: r.Rule,
		Containers: r.Containers, UnknownContainers: r.UnknownContainers, Authored: r.authored.fields(), Requested: r.requested.fields(),
	}
	if r.known() > 0 {
		f.Compared, f.Used, f.Recommended, f.Saved = r.compared.fields(), r.used.fields(), r.recommended.fields(), r.saved().fields()
		f.AuthoredCost, f.RecommendedCost, f.SavedCost = r.authoredCost, r.recommendedCost, r.savedCost()
	}
	return json.Marshal(f)
}

// document prints the whole report: the containers as in the API, and the sums over them.
func (r *report) document(o *print.Output) error {
	if o.Format != print.FormatJSON && o.Format != print.FormatYAML {
		return r.selected(o)
	}
	items := make([]json.RawMessage, len(r.items))
	for i, item := range r.items {
		raw, err := print.JSON(item, "")
		if err != nil {
			return err
		}
		items[i] = raw
	}
	return o.Value(struct {
		Recommendations []json.RawMessage `json:"recommendations"`
		Workloads       []*row            `json:"workloads"`
		Namespaces      []*row            `json:"namespaces"`
		Total           *row              `json:"total"`
		Currency        string            `json:"currency"`
	}{items, orEmpty(r.Workloads), orEmpty(r.Namespaces), &r.Total, r.currency})
}

// orEmpty returns rows that are a list in documents even if there are none.
func orEmpty(rows []*row) []*row { return append([]*row{}, rows...) }

// selected prints what the template of the format selects from the same document.
func (r *report) selected(o *print.Output) error {
	items := []any{}
	for _, item := range r.items {
		object, err := print.Object(item)
		if err != nil {
			return err
		}
		items = append(items, object)
	}
	document := map[string]any{"recommendations": items, "currency": r.currency}
	for name, rows := range map[string][]*row{"workloads": r.Workloads, "namespaces": r.Namespaces} {
		objects := []any{}
		for _, row := range rows {
			object, err := print.Fields(row)
			if err != nil {
				return err
			}
			objects = append(objects, object)
		}
		document[name] = objects
	}
	total, err := print.Fields(&r.Total)
	if err != nil {
		return err
	}
	document["total"] = total
	return o.Format.Select(o.Out, document)
}

// printNames prints what -o name prints.
func printNames(w io.Writer, rows []*row) error {
	for _, row := range rows {
		name := "namespace/" + print.OneLine(row.Namespace)
		if row.Workload != nil {
			name = print.WorkloadName(row.Workload)
		}
		if _, err := fmt.Fprintln(w, name); err != nil {
			return err
		}
	}
	return nil
}
