package journal

import (
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// Filter selects entries. The zero Filter selects all.
type Filter struct {
	// Namespace selects the entries of a namespace, and gaps.
	Namespace string
	Kinds     []Kind
	// Workload selects the entries about a workload, and gaps.
	Workload workload.Workload
	Author   string
	// Since and Until select what happened at or after the one and before the other; zero for no limit.
	Since, Until time.Time
}

// Selects reports whether the filter selects an entry.
func (f *Filter) Selects(e *Entry) bool {
	switch {
	case len(f.Kinds) > 0 && !slices.Contains(f.Kinds, e.Kind),
		f.Author != "" && f.Author != e.Author,
		!f.Since.IsZero() && e.End().Before(f.Since),
		!f.Until.IsZero() && !e.At.Before(f.Until):
		return false
	case e.Kind == Gap:
		return true
	}
	return (f.Namespace == "" || f.Namespace == e.Namespace) && (f.Workload == workload.Workload{} || f.Workload == e.Workload)
}
