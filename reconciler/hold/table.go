package hold

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// Table is the holds in force at one moment. It never changes. A nil Table has
// no holds.
type Table struct {
	holds []Hold
	// byKey are the positions in holds.
	byKey map[key]int
}

// NewTable returns a table of these holds, of which there must be at most one
// of a kind for a scope.
func NewTable(holds []Hold) *Table {
	t := &Table{holds: ordered(holds), byKey: make(map[key]int, len(holds))}
	for i := range t.holds {
		t.byKey[t.holds[i].key()] = i
	}
	return t
}

// ordered returns a copy ordered by scope: the cluster, then namespaces with
// their workloads and pods; of a scope the one that decides first.
func ordered(holds []Hold) []Hold {
	return slices.SortedFunc(slices.Values(holds), func(a, b Hold) int {
		return cmp.Or(cmp.Compare(a.Scope.Namespace, b.Scope.Namespace), cmp.Compare(a.Scope.Pod, b.Scope.Pod),
			cmp.Compare(a.Scope.Workload.Kind, b.Scope.Workload.Kind), cmp.Compare(a.Scope.Workload.Name, b.Scope.Workload.Name),
			cmp.Compare(a.Scope.UID, b.Scope.UID), -cmp.Compare(a.Kind, b.Kind))
	})
}

// Of returns the hold that decides for a pod, false if none does. workloads are
// those of the pod, the narrowest first: its controller, then the controller's
// own. Any Restore goes before any Pause, else the most specific one decides. It
// takes the same time however many holds there are, and allocates nothing.
func (t *Table) Of(namespace, pod string, uid types.UID, workloads ...safety.Workload) (Hold, bool) {
	if t == nil || len(t.holds) == 0 {
		return Hold{}, false
	}
	for _, kind := range [...]Kind{Restore, Pause} {
		if h, ok := t.at(Scope{Namespace: namespace, Pod: pod, UID: uid}, kind); ok && pod != "" {
			return h, true
		}
		for _, workload := range workloads {
			if h, ok := t.at(Scope{Namespace: namespace, Workload: workload}, kind); ok {
				return h, true
			}
		}
		for _, scope := range [...]Scope{{Namespace: namespace}, {}} {
			if h, ok := t.at(scope, kind); ok {
				return h, true
			}
		}
	}
	return Hold{}, false
}

// at returns the hold of exactly a scope and a kind.
func (t *Table) at(scope Scope, kind Kind) (Hold, bool) {
	i, ok := t.byKey[key{scope, kind}]
	if !ok {
		return Hold{}, false
	}
	return t.holds[i], true
}

// Over returns the hold of the scope or a wider one that decides for all its
// pods whatever else is said of them: a Restore. workloads are those of a pod, as
// for Of. False if there is none.
func (t *Table) Over(scope Scope, workloads ...safety.Workload) (Hold, bool) {
	h, ok := t.deciding(scope, workloads)
	return h, ok && h.Kind == Restore
}

// deciding returns the hold that decides for all of a scope; workloads are those
// of a pod.
func (t *Table) deciding(scope Scope, workloads []safety.Workload) (Hold, bool) {
	if scope.Pod == "" {
		workloads = []safety.Workload{scope.Workload}
	}
	return t.Of(scope.Namespace, scope.Pod, scope.UID, workloads...)
}

// All returns the holds: that of the cluster first, then those of each namespace,
// its workloads and its pods, by name. The caller may keep and change the slice.
func (t *Table) All() []Hold {
	if t == nil {
		return nil
	}
	return slices.Clone(t.holds)
}
