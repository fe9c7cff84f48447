package history

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// Kinds are the kinds of entries to select. Gaps are selected with any of them.
var Kinds = []workloadresizerv1.JournalEntryKind{
	workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_RESIZE, workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_REVERT,
	workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_EVICTION, workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_BREAKER,
	workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_HOLD, workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_FREEZE,
	workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_OVERRIDE, workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_GAP,
}

// Filter selects entries, in the words of users. Its zero value selects all.
type Filter struct {
	Namespace string
	// Kinds are words of Kinds.
	Kinds    []string
	Workload *workloadresizerv1.Workload
	Pod      string
	ActedBy  string
	// Since and Until are times, or how long ago.
	Since, Until string
}

// Request returns the filter in the API, or which of its words it cannot read. A list without gaps would look as if nothing had happened
// in them.
func (f Filter) Request(now time.Time) (*workloadresizerv1.ListEntriesRequest, error) {
	request := &workloadresizerv1.ListEntriesRequest{Namespace: f.Namespace, Workload: f.Workload, Pod: f.Pod, ActedBy: f.ActedBy}
	for _, name := range f.Kinds {
		at := slices.IndexFunc(Kinds, func(k workloadresizerv1.JournalEntryKind) bool { return print.EntryKind(k) == name })
		if at < 0 {
			return nil, fmt.Errorf("kind %q must be one of %s", print.OneLine(name), strings.Join(print.Each(Kinds, print.EntryKind), ", "))
		}
		request.Kinds = append(request.Kinds, Kinds[at])
	}
	if gap := workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_GAP; len(request.Kinds) > 0 && !slices.Contains(request.Kinds, gap) {
		request.Kinds = append(request.Kinds, gap)
	}
	var err error
	if request.SinceTime, request.UntilTime, err = command.ParseTimes(now, f.Since, f.Until); err != nil {
		return nil, err
	}
	return request, nil
}
