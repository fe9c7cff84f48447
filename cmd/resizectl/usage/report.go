package usage

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

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
	// items are recommendations, in the order of the server.
	items    []*workloadresizerv1.Recommendation
	currency string
	rows     map[by][]*row
	total    *row
	// saves means that it is about what resizes save now, not about what they could.
	saves bool
}

// row is what a row of a table is about, and its sums.
type row struct {
	namespace       string
	workload        *workloadresizerv1.Workload
	container, rule string
	sums            sums
	// item is the recommendation of a row about a container.
	item *workloadresizerv1.Recommendation
	// saves means that the sums are of savings. message is the answer of the server about a workload.
	saves   bool
	message *workloadresizerv1.Savings
}

func newReport(currency string, saves bool) *report {
	return &report{currency: currency, rows: map[by][]*row{}, total: &row{saves: saves}, saves: saves}
}

// reportOf adds up recommendations, which are ordered by namespace and workload.
func reportOf(resp *workloadresizerv1.ListRecommendationsResponse) (*report, error) {
	all := newReport(resp.GetCurrency(), false)
	all.items = resp.GetRecommendations()
	for _, item := range all.items {
		container := containerRow(item)
		if err := container.sums.read(item.GetSums()); err != nil {
			return nil, fmt.Errorf("read the sums of container %s of %s in namespace %s: %w", item.GetContainer(), print.WorkloadName(item.GetWorkload()), item.GetNamespace(), err)
		}
		all.rows[byContainer] = append(all.rows[byContainer], container)
		last := all.last(byWorkload)
		if last == nil || last.namespace != container.namespace || !proto.Equal(last.workload, container.workload) {
			last = &row{namespace: container.namespace, workload: container.workload}
			all.rows[byWorkload] = append(all.rows[byWorkload], last)
		}
		last.sums.add(&container.sums)
		all.add(container)
	}
	return all, nil
}

func containerRow(item *workloadresizerv1.Recommendation) *row {
	return &row{namespace: item.GetNamespace(), workload: item.GetWorkload(), container: item.GetContainer(), rule: item.GetRule(), item: item}
}

// savingsOf adds up savings of workloads, which are ordered by namespace.
func savingsOf(resp *workloadresizerv1.ListSavingsResponse) (*report, error) {
	all := newReport(resp.GetCurrency(), true)
	for _, message := range resp.GetSavings() {
		of := &row{namespace: message.GetNamespace(), workload: message.GetWorkload(), saves: true, message: message}
		if err := of.sums.readSavings(message); err != nil {
			return nil, fmt.Errorf("read the savings of %s in namespace %s: %w", of.name(), message.GetNamespace(), err)
		}
		all.rows[byWorkload] = append(all.rows[byWorkload], of)
		all.add(of)
	}
	return all, nil
}

// add adds the sums of a row to those of its namespace, and to the total.
func (r *report) add(of *row) {
	last := r.last(byNamespace)
	if last == nil || last.namespace != of.namespace {
		last = &row{namespace: of.namespace, saves: r.saves}
		r.rows[byNamespace] = append(r.rows[byNamespace], last)
	}
	last.sums.add(&of.sums)
	r.total.sums.add(&of.sums)
}

func (r *report) last(by by) *row {
	if n := len(r.rows[by]); n > 0 {
		return r.rows[by][n-1]
	}
	return nil
}

// priced reports whether the server has prices.
func (r *report) priced() bool { return r.currency != "" || r.total.sums.cost.authored != nil }

// name is what -o name prints.
func (r *row) name() string {
	if r.workload != nil {
		return print.WorkloadName(r.workload)
	}
	return "namespace/" + print.OneLine(r.namespace)
}

// InAPI returns savings as in the API, with the exact sums; nil for other sums, which the API does not have.
func (r *row) InAPI() proto.Message {
	switch s := &r.sums; {
	case !r.saves:
		return nil
	case r.message != nil:
		return r.message
	default:
		return &workloadresizerv1.Savings{
			Namespace: r.namespace, Pods: s.pods, UnknownPods: &s.unknownPods, Reverts: &s.reverts, OomKills: &s.kills,
			Authored: s.authored.inAPI(), Requested: s.requested.inAPI(), Saved: s.saved.inAPI(), Measured: s.measured.inAPI(), Used: s.used.inAPI(),
			AuthoredCost: s.cost.authored, RequestedCost: s.cost.changed, UsedCost: s.cost.used,
		}
	}
}

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

type workload struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// MarshalJSON implements json.Marshaler.
func (r *row) MarshalJSON() ([]byte, error) {
	if m := r.InAPI(); m != nil {
		return print.JSON(m, "")
	}
	s := &r.sums
	f := sumsFields{
		Namespace: r.namespace, Container: r.container, Rule: r.rule,
		Containers: s.pods, UnknownContainers: s.unknownPods, Authored: s.authored.fields(), Requested: s.requested.fields(),
	}
	if r.workload != nil {
		f.Workload = &workload{r.workload.GetKind(), r.workload.GetName()}
	}
	if s.known() > 0 {
		f.Compared, f.Used, f.Recommended, f.Saved = s.compared.fields(), s.used.fields(), s.recommended.fields(), s.saved.fields()
		f.AuthoredCost, f.RecommendedCost, f.SavedCost = s.cost.authored, s.cost.changed, s.cost.saved()
	}
	return json.Marshal(f)
}

// document prints the whole report: what the server listed, and the sums over it.
func (r *report) document(o *print.Output) error {
	fields := []print.Field{{Name: "savings", Value: print.List(r.rows[byWorkload])}}
	if !r.saves {
		fields = []print.Field{{Name: "recommendations", Value: print.List(r.items)}, {Name: "workloads", Value: print.List(r.rows[byWorkload])}}
	}
	return o.Fields(append(fields,
		print.Field{Name: "namespaces", Value: print.List(r.rows[byNamespace])},
		print.Field{Name: "total", Value: r.total},
		print.Field{Name: "currency", Value: r.currency})...)
}

// print prints the rows in a format, and below a table what else there is to say.
func (r *report) print(o *print.Output, l layout, of *selection) error {
	rows := r.rows[l.by]
	if err := print.Sort(o.SortBy, rows); err != nil {
		return err
	}
	switch {
	case o.Format.IsDocument():
		return r.document(o)
	case o.Format.IsListing():
		return print.Listing(o, (*row).name, rows...)
	}
	l.priced, l.currency = r.priced(), r.currency
	if err := o.Table(r.table(l, rows)); err != nil {
		return err
	}
	if r.saves {
		return print.Texts(o.ErrOut, otherOwners(&of.target, r.rows[byWorkload]), r.unknownUsage())
	}
	return print.Texts(o.ErrOut, otherOwners(&of.target, rows), withheld(r.items), unknownText(&r.total.sums))
}

// unknownText says what the table does not cover; empty if it covers all.
func unknownText(total *sums) string {
	if total.unknownPods == 0 {
		return ""
	}
	unknown := total.unknown()
	return fmt.Sprintf("%d of %s unknown: their authors requested cpu %s and memory %s, which no sum counts; \"resizectl usage explain WORKLOAD\" shows why",
		total.unknownPods, print.AreOf(total.pods, "container"), print.CPU.Text(unknown.cpu), print.Memory.Text(unknown.memory))
}

// withheld says of which workloads the table has what their authors requested as recommended; empty if of none.
func withheld(items []*workloadresizerv1.Recommendation) string {
	var names []string
	for _, item := range items {
		if item.GetCpuWithheldMessage() == "" && item.GetMemoryWithheldMessage() == "" {
			continue
		}
		if name := item.GetNamespace() + "/" + print.WorkloadName(item.GetWorkload()); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("a HorizontalPodAutoscaler compares requests of %s with usage, so usage does not size them, and no savings count; \"resizectl usage explain WORKLOAD\" shows which", print.First(names, mostNamed))
}

// mostNamed is how many workloads a remark names.
const mostNamed = 5

// otherOwners says that the rows are about different workloads than the one that was named: those that its
// pods count for. It is empty if they are not.
func otherOwners(of *target, rows []*row) string {
	if of.workload == nil {
		return ""
	}
	var others []string
	named := print.WorkloadName(of.workload)
	for _, r := range rows {
		if r.workload == nil {
			continue
		}
		if name := r.name(); name != named && !slices.Contains(others, name) {
			others = append(others, name)
		}
	}
	if len(others) == 0 {
		return ""
	}
	return fmt.Sprintf("the pods of %s count for %s; the sums are over these pods only", named, strings.Join(others, ", "))
}
