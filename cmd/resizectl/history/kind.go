package history

import (
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// entry is what a row is about.
type entry = *workloadresizerv1.JournalEntry

// kind describes entries; withNamespace adds a column with the namespace.
func kind(o *print.Output, withNamespace bool) objects.Kind[entry, entry] {
	columns := []objects.Column[entry]{
		objects.Cell("Time", func(e entry) any { return localTime(o, e.GetStartTime()) }),
		objects.Cell("End", func(e entry) any { return localTime(o, e.GetEndTime()) }).Wide(),
		objects.Cell("Kind", func(e entry) any { return print.Cell{Text: print.EntryKind(e.GetKind()), Style: StyleOf(e)} }).RoomFor("eviction"),
		objects.Cell("Count", func(e entry) any { return countText(e.GetCount()) }),
		objects.Cell("Pods", func(e entry) any { return countText(e.GetPods()) }).Wide(),
		objects.Cell("Subject", func(e entry) any { return Subject(e) }),
		objects.Text("Workload", workloadText).Wide(),
		objects.Text("Node", entry.GetNode).Wide(),
		objects.Cell("Change", func(e entry) any { return changeText(o, e) }),
		objects.Text("Author", entry.GetAuthor),
		objects.Text("Reason", Reason),
	}
	if withNamespace {
		columns = slices.Insert(columns, 3, objects.Text("Namespace", entry.GetNamespace))
	}
	return objects.Kind[entry, entry]{Name: name, Rows: objects.Itself[entry], Columns: columns}
}

// localTime returns a time in the zone of the user, in a form that --since accepts.
func localTime(o *print.Output, t *timestamppb.Timestamp) string {
	if t == nil {
		return print.Absent
	}
	return t.AsTime().In(o.Now().Location()).Format(time.RFC3339)
}

// StyleOf returns the style of what says that something went wrong.
func StyleOf(e entry) print.Style {
	switch e.GetKind() {
	case workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_GAP, workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_REVERT,
		workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_BREAKER, workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_FREEZE:
		return print.Notable
	}
	return print.Plain
}

func countText(n int64) string {
	if n == 0 {
		return print.Absent
	}
	return fmt.Sprint(n)
}

// IsGap reports whether an entry is a time of which the history is incomplete.
func IsGap(e entry) bool {
	return e.GetKind() == workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_GAP
}

// IsAsked reports whether somebody asked for what an entry is about: the server did not do it by itself.
func IsAsked(e entry) bool { return e.GetAuthor() != contract.FieldManager }

// obvious are the reasons that say no more than the kind of an entry.
var obvious = map[workloadresizerv1.JournalEntryKind]contract.Reason{
	workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_RESIZE:   contract.Resized,
	workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_REVERT:   contract.Reverted,
	workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_EVICTION: contract.Evicted,
}

// IsObvious reports whether the reason of an entry says no more than its kind.
func IsObvious(e entry) bool {
	return e.GetReason() != "" && contract.Reason(e.GetReason()) == obvious[e.GetKind()]
}

// Subject returns what an entry is about, without its namespace.
func Subject(e entry) string {
	switch {
	case e.GetPod() != "":
		return print.OneLine(print.PodName(e.GetPod()))
	case e.GetWorkload() != nil:
		return print.WorkloadName(e.GetWorkload())
	case e.GetNamespace() != "":
		return print.OneLine("namespace/" + e.GetNamespace())
	case IsGap(e):
		return print.Absent
	}
	return "cluster"
}

func workloadText(e entry) string {
	if e.GetWorkload() == nil {
		return ""
	}
	return print.WorkloadName(e.GetWorkload())
}

// name returns what -o name prints of an entry.
func name(e entry) string {
	if IsGap(e) {
		return "gap"
	}
	return Subject(e)
}

// changeText returns the states before and after. Of a gap, it is when it ended.
func changeText(o *print.Output, e entry) any {
	if IsGap(e) {
		text := "incomplete"
		if e.GetEndTime() != nil {
			text += " until " + localTime(o, e.GetEndTime())
		}
		return print.Cell{Text: text, Style: StyleOf(e)}
	}
	if e.GetFrom() == "" && e.GetTo() == "" {
		return print.Absent
	}
	return print.OneLine(print.OrAbsent(e.GetFrom()) + " → " + print.OrAbsent(e.GetTo()))
}

// Reason returns the reason of an entry, and what led to it.
func Reason(e entry) string {
	if e.GetReason() == "" || e.GetMessage() == "" {
		return e.GetReason() + e.GetMessage()
	}
	return e.GetReason() + ": " + e.GetMessage()
}
