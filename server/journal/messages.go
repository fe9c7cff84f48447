package journal

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/journal"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
	"github.com/workload-resizer/workload-resizer/server/values"
)

var kinds = map[journal.Kind]workloadresizerv1.JournalEntryKind{
	journal.Resize:   workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_RESIZE,
	journal.Revert:   workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_REVERT,
	journal.Eviction: workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_EVICTION,
	journal.Breaker:  workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_BREAKER,
	journal.Hold:     workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_HOLD,
	journal.Freeze:   workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_FREEZE,
	journal.Override: workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_OVERRIDE,
	journal.Gap:      workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_GAP,
}

// Message returns the message of an entry.
func Message(e *journal.Entry) *workloadresizerv1.JournalEntry {
	m := &workloadresizerv1.JournalEntry{
		Kind: kinds[e.Kind], StartTime: values.Timestamp(e.At), EndTime: values.Timestamp(e.Last), Namespace: e.Namespace, Pod: e.Pod, Node: e.Node,
		Author: e.Author, Reason: e.Reason, Message: e.Message, From: e.Before(), To: e.After(), Count: e.Count, Pods: e.Pods,
	}
	if e.Kind == journal.Resize && e.Count > 1 && e.Message != "" {
		m.Message = "last " + e.Message
	}
	if e.Workload != (workload.Workload{}) {
		m.Workload = &workloadresizerv1.Workload{Kind: e.Workload.Kind, Name: e.Workload.Name}
	}
	return m
}

// request has the fields that requests for lists and watches share.
type request interface {
	GetNamespace() string
	GetKinds() []workloadresizerv1.JournalEntryKind
	GetWorkload() *workloadresizerv1.Workload
	GetPod() string
	GetActedBy() string
	GetSinceTime() *timestamppb.Timestamp
}

// alias lets a filter select what happened to its workload under other names. The caller must be allowed to see its namespace.
func (s *Service) alias(f *journal.Filter) {
	if f.Namespace != "" && f.Workload.Name != "" && s.config.Aliases != nil {
		f.Aliases = s.config.Aliases(f.Namespace, f.Workload)
	}
}

func filterOf(r request) *journal.Filter {
	f := &journal.Filter{Namespace: r.GetNamespace(), Pod: r.GetPod(), Author: r.GetActedBy(), Since: timeOf(r.GetSinceTime())}
	for _, kind := range journal.Kinds {
		for _, wanted := range r.GetKinds() {
			if kinds[kind] == wanted {
				f.Kinds = append(f.Kinds, kind)
			}
		}
	}
	if w := r.GetWorkload(); w != nil {
		f.Workload = workload.Workload{Kind: w.GetKind(), Name: w.GetName()}
	}
	return f
}

func timeOf(t *timestamppb.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.AsTime()
}
