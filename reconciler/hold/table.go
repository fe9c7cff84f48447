package hold

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// Table is an immutable set of holds in effect, and the freeze if there is one. A nil Table
// has neither.
type Table struct {
	holds []Hold
	// byKey has the positions in holds.
	byKey map[key]int
	// resets has the breakers that were reset, ordered like holds, and resetAt when that was.
	resets  []Hold
	resetAt map[Scope]time.Time
	// emergencies counts the emergency restores.
	emergencies int
	// freeze is nil if the cluster is not frozen. unfrozen is the table without it.
	freeze   *Freeze
	unfrozen *Table
}

// NewTable returns a table of these holds. There must be at most one hold of a kind for a
// scope. Breakers that were reset are not in effect.
func NewTable(holds []Hold) *Table {
	holds = ordered(holds)
	resets := slices.DeleteFunc(slices.Clone(holds), func(h Hold) bool { return h.Reset.IsZero() })
	holds = slices.DeleteFunc(holds, func(h Hold) bool { return !h.Reset.IsZero() })
	t := &Table{holds: holds, resets: resets, byKey: make(map[key]int, len(holds)), resetAt: make(map[Scope]time.Time, len(resets))}
	for i := range resets {
		t.resetAt[resets[i].Scope] = resets[i].Reset
	}
	for i := range t.holds {
		t.byKey[t.holds[i].key()] = i
		if t.holds[i].Emergency {
			t.emergencies++
		}
	}
	return t
}

// Frozen returns a table with the holds of t and this freeze; nil for none.
func (t *Table) Frozen(freeze *Freeze) *Table {
	frozen := *t
	frozen.freeze, frozen.unfrozen = freeze, t
	return &frozen
}

// Freeze returns the freeze in effect; nil if there is none.
func (t *Table) Freeze() *Freeze {
	if t == nil {
		return nil
	}
	return t.freeze
}

// ordered returns a copy ordered by scope: the cluster, then each namespace with its
// workloads and pods. For the same scope, the hold that takes precedence comes first.
func ordered(holds []Hold) []Hold {
	return slices.SortedFunc(slices.Values(holds), func(a, b Hold) int {
		return cmp.Or(cmp.Compare(a.Scope.Namespace, b.Scope.Namespace), cmp.Compare(a.Scope.Pod, b.Scope.Pod),
			cmp.Compare(a.Scope.Workload.Kind, b.Scope.Workload.Kind), cmp.Compare(a.Scope.Workload.Name, b.Scope.Workload.Name),
			cmp.Compare(a.Scope.UID, b.Scope.UID), -cmp.Compare(a.Kind, b.Kind))
	})
}

// Of returns the hold that is in effect for a pod; false if there is none. workloads are
// the workloads of the pod, the narrowest first: its controller, then the controller's
// controller. Any Restore takes precedence over any Pause, and that over any Breaker; within a
// kind, the most specific scope takes precedence. The cost does not depend on the number of holds, and Of allocates
// nothing.
func (t *Table) Of(namespace, pod string, uid types.UID, workloads ...workload.Workload) (Hold, bool) {
	for h := range t.Covering(namespace, pod, uid, workloads...) {
		return h, true
	}
	return Hold{}, false
}

// Covering yields all holds that cover a pod, in the order of their precedence, as for Of.
func (t *Table) Covering(namespace, pod string, uid types.UID, workloads ...workload.Workload) iter.Seq[Hold] {
	return func(yield func(Hold) bool) {
		if t == nil || len(t.holds) == 0 {
			return
		}
		for _, kind := range kinds {
			if h, ok := t.at(Scope{Namespace: namespace, Pod: pod, UID: uid}, kind); ok && pod != "" && !yield(h) {
				return
			}
			for _, workload := range workloads {
				if h, ok := t.at(Scope{Namespace: namespace, Workload: workload}, kind); ok && !yield(h) {
					return
				}
			}
			for _, scope := range [...]Scope{{Namespace: namespace}, {}} {
				if h, ok := t.at(scope, kind); ok && !yield(h) {
					return
				}
			}
		}
	}
}

// Emergencies returns the number of emergency restores in effect.
func (t *Table) Emergencies() int {
	if t == nil {
		return 0
	}
	return t.emergencies
}

// Emergency reports whether an emergency restore covers a pod, as for Of. It need not be the
// hold that Of returns: a restore of a narrower scope must not slow down an emergency restore
// of a wider one.
func (t *Table) Emergency(namespace, pod string, uid types.UID, workloads ...workload.Workload) bool {
	if t.Emergencies() == 0 {
		return false
	}
	covers := func(scope Scope) bool {
		h, ok := t.at(scope, Restore)
		return ok && h.Emergency
	}
	return covers(Scope{}) || covers(Scope{Namespace: namespace}) || covers(Scope{Namespace: namespace, Pod: pod, UID: uid}) ||
		slices.ContainsFunc(workloads, func(w workload.Workload) bool { return covers(Scope{Namespace: namespace, Workload: w}) })
}

// at returns the hold with exactly this scope and kind.
func (t *Table) at(scope Scope, kind Kind) (Hold, bool) {
	i, ok := t.byKey[key{scope, kind}]
	if !ok {
		return Hold{}, false
	}
	return t.holds[i], true
}

// Over returns the Restore of the scope or of a wider one, which takes precedence for all
// pods of the scope, regardless of other holds. workloads are the workloads of a pod, as
// for Of. It returns false if there is none.
func (t *Table) Over(scope Scope, workloads ...workload.Workload) (Hold, bool) {
	h, ok := t.deciding(scope, workloads)
	return h, ok && h.Kind == Restore
}

// deciding returns the hold that takes precedence for all pods of a scope. workloads are
// the workloads of a pod.
func (t *Table) deciding(scope Scope, workloads []workload.Workload) (Hold, bool) {
	if scope.Pod == "" {
		workloads = []workload.Workload{scope.Workload}
	}
	return t.Of(scope.Namespace, scope.Pod, scope.UID, workloads...)
}

// All returns all holds: the cluster's first, then the holds of each namespace, its
// workloads and its pods, by name. The caller may keep and change the slice.
func (t *Table) All() []Hold {
	if t == nil {
		return nil
	}
	return slices.Clone(t.holds)
}
