package hold

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"
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
// their pods; of a scope the one that decides first.
func ordered(holds []Hold) []Hold {
	return slices.SortedFunc(slices.Values(holds), func(a, b Hold) int {
		return cmp.Or(cmp.Compare(a.Scope.Namespace, b.Scope.Namespace), cmp.Compare(a.Scope.Pod, b.Scope.Pod), cmp.Compare(a.Scope.UID, b.Scope.UID), -cmp.Compare(a.Kind, b.Kind))
	})
}

// Of returns the hold that decides for a pod, false if none does. Any Restore
// goes before any Pause, else the most specific one decides. It takes the same
// time however many holds there are, and allocates nothing.
func (t *Table) Of(namespace, pod string, uid types.UID) (Hold, bool) {
	if t == nil || len(t.holds) == 0 {
		return Hold{}, false
	}
	for _, kind := range [...]Kind{Restore, Pause} {
		for _, scope := range [...]Scope{{namespace, pod, uid}, {Namespace: namespace}, {}} {
			if i, ok := t.byKey[key{scope, kind}]; ok {
				return t.holds[i], true
			}
		}
	}
	return Hold{}, false
}

// Over returns the hold of the scope or a wider one that decides for all its
// pods whatever else is said of them: a Restore. False if there is none.
func (t *Table) Over(scope Scope) (Hold, bool) {
	h, ok := t.Of(scope.Namespace, scope.Pod, scope.UID)
	return h, ok && h.Kind == Restore
}

// All returns the holds: that of the cluster first, then those of each namespace
// and its pods, by name. The caller may keep and change the slice.
func (t *Table) All() []Hold {
	if t == nil {
		return nil
	}
	return slices.Clone(t.holds)
}
