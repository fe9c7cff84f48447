package journal

import (
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// Filter selects entries. The zero Filter selects all. Only Kinds and times leave out gaps, since there may be anything in them.
type Filter struct {
	Namespace string
	Kinds     []Kind
	Workload  workload.Workload
	// Aliases are other workloads whose entries may be about Workload: its owner, in whose name its pods are held, and those that it owns.
	Aliases []workload.Workload
	Pod     string
	Author  string
	// Since and Until select what happened at or after the one and before the other; zero for no limit.
	Since, Until time.Time
}

// Selects reports whether the filter selects an entry.
func (f *Filter) Selects(e *Entry) bool {
	switch {
	case len(f.Kinds) > 0 && !slices.Contains(f.Kinds, e.Kind),
		!f.Since.IsZero() && e.End().Before(f.Since),
		!f.Until.IsZero() && !e.At.Before(f.Until):
		return false
	case e.Kind == Gap:
		return true
	}
	return (f.Namespace == "" || f.Namespace == e.Namespace) && (f.Workload == workload.Workload{} || f.Workload == e.Workload || slices.Contains(f.Aliases, e.Workload)) &&
		(f.Pod == "" || f.Pod == e.Pod) && (f.Author == "" || f.Author == e.Author)
}
