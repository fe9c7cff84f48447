package demand

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
	"github.com/workload-resizer/workload-resizer/usage"
)

// Selection selects pods: they must match all of its fields.
type Selection struct {
	// Namespace selects a namespace; empty for all.
	Namespace string
	// Selector selects pods by their labels; nil for all.
	Selector labels.Selector
	// Workloads selects the pods that belong to any of these workloads; empty for all pods. Each of them
	// has items of its own. The zero value stands for all pods, and an empty namespace for all namespaces.
	Workloads []usage.Workload
	// From is the namespace to begin with; empty to begin with the first one.
	From string
	// Visible returns those of the namespaces that the caller can see; nil for all.
	Visible func(namespaces ...string) ([]string, error)
}

// chosen has the workloads of a selection.
type chosen struct {
	all  bool
	some map[usage.Workload]bool
}

func (s *Selection) chosen() *chosen {
	w := &chosen{all: len(s.Workloads) == 0, some: make(map[usage.Workload]bool, len(s.Workloads))}
	for _, of := range s.Workloads {
		if of == (usage.Workload{}) {
			w.all = true
		} else {
			w.some[of] = true
		}
	}
	return w
}

// inNamespaces yields what items returns of each namespace whose pods are selected, given the table of ratios; nothing while
// there is none. It looks at a namespace only when it reaches it, and ends with the error of Visible or ctx.
func inNamespaces[I any](ctx context.Context, d *Demands, of *Selection, items func(string, *chosen, *ratios.Table) []I) iter.Seq2[I, error] {
	return func(yield func(I, error) bool) {
		table := d.Ratios.Table()
		if table == nil {
			return
		}
		chosen := of.chosen()
		for namespace, err := range d.Cluster.Pods(of.Namespace).Visible(of.From, of.Visible) {
			if err = cmp.Or(err, ctx.Err()); err != nil {
				yield(*new(I), err)
				return
			}
			for _, item := range items(namespace, chosen, table) {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

// of appends the chosen workloads that a pod belongs to, given its owners and the workload that its usage
// counts for. A pod belongs to all of these: to its ReplicaSet, for example, although its usage counts for
// the Deployment. The workload of Jobs without an owner is a label, which is no owner of the pod.
func (w *chosen) of(to []usage.Workload, namespace string, owners []workload.Workload, countsFor usage.Workload) []usage.Workload {
	if w.all {
		to = append(to, usage.Workload{})
	}
	if len(w.some) == 0 {
		return to
	}
	add := func(kind, name string) {
		for _, in := range [...]string{namespace, ""} {
			if of := (usage.Workload{Namespace: in, Kind: kind, Name: name}); w.some[of] && !slices.Contains(to, of) {
				to = append(to, of)
			}
		}
	}
	for _, owner := range owners {
		add(owner.Kind, owner.Name)
	}
	add(countsFor.Kind, countsFor.Name)
	return to
}

// runs reports whether a pod has a node and has not finished.
func runs(p *pod.Pod) bool { return !p.Finished() && p.Node() != "" }

// Pods are the pods that belong to a workload.
type Pods struct {
	// Total is their number. Finished is the number of those that have finished, and Unscheduled of those
	// that have no node yet.
	Total, Finished, Unscheduled int
	// CountFor are the workloads that their usage counts for, in order; empty if it counts for none.
	CountFor []usage.Workload
}

// Running returns how many of them have a node and have not finished.
func (p *Pods) Running() int { return p.Total - p.Finished - p.Unscheduled }

// PodsOf returns the pods that belong to a workload.
func (d *Demands) PodsOf(of usage.Workload) Pods {
	selection := Selection{Workloads: []usage.Workload{of}}
	chosen := selection.chosen()
	var found Pods
	var owners []workload.Workload
	var about []usage.Workload
	for _, p := range d.Cluster.Pods(of.Namespace).List() {
		owners = d.Cluster.Owners().Chain(owners[:0], p)
		w, ok := d.countsFor(p, owners)
		if about = chosen.of(about[:0], p.Namespace(), owners, w); len(about) == 0 {
			continue
		}
		switch found.Total++; {
		case p.Finished():
			found.Finished++
		case !runs(p):
			found.Unscheduled++
		}
		if ok && !slices.Contains(found.CountFor, w) {
			found.CountFor = append(found.CountFor, w)
		}
	}
	slices.SortFunc(found.CountFor, byName)
	return found
}

// byName orders workloads.
func byName(a, b usage.Workload) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
}
