package main

import (
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// printStatus prints what there is once as lines, and the pods as a table.
func printStatus(w io.Writer, p painter, s *workloadresizerv1.GetStatusResponse, wide bool) error {
	for _, line := range statusLines(p, s, wide) {
		if _, err := fmt.Fprintf(w, "%-10s%s\n", line.name+":", line.text); err != nil {
			return err
		}
	}
	if len(s.GetPods()) == 0 {
		return nil
	}
	table := &metav1.Table{ColumnDefinitions: []metav1.TableColumnDefinition{column("Decision"), column("Reason"), column("Pods")}}
	for _, count := range s.GetPods() {
		table.Rows = append(table.Rows, metav1.TableRow{Cells: []any{
			decisionText(count.GetDecision()), orAbsent(oneLine(count.GetCode())), fmt.Sprint(count.GetPods()),
		}})
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return newTableWriter(w, p, wide).print(table)
}

type statusLine struct{ name, text string }

func statusLines(p painter, s *workloadresizerv1.GetStatusResponse, wide bool) []statusLine {
	lines := []statusLine{
		{"replica", fmt.Sprintf("%s, version %s, since %s", orAbsent(oneLine(s.GetReplica())), orAbsent(oneLine(s.GetVersion())), timestamp(s.GetStartTime()))},
		{"leader", leaderText(s)},
	}
	if wide {
		lines = append(lines, statusLine{"lease", "renewed " + timestamp(s.GetLeader().GetRenewTime())})
	}
	if s.GetDryRun() {
		lines = append(lines, statusLine{"mode", p.paint(added, "--dry-run: it plans and writes nothing")})
	}
	revision := "none yet"
	if s.GetRatioRevision() != "" {
		revision = "revision " + oneLine(s.GetRatioRevision())
	}
	lines = append(lines,
		statusLine{"ratios", revision},
		statusLine{"queue", fmt.Sprintf("%s to look at, %s to size anew", countOf(s.GetQueueLength(), "pod"), countOf(s.GetRealignBacklog(), "pod"))},
		statusLine{"holds", fmt.Sprint(s.GetHolds())},
	)
	if len(s.GetProblems()) == 0 {
		return append(lines, statusLine{"problems", "none"})
	}
	for _, problem := range s.GetProblems() {
		lines = append(lines, statusLine{"problem", p.paint(red, oneLine(problem))})
	}
	return lines
}

func leaderText(s *workloadresizerv1.GetStatusResponse) string {
	if s.GetLeader() == nil {
		if s.GetLeading() {
			return "the replica that answers"
		}
		return "not known"
	}
	text := fmt.Sprintf("%s, since %s", oneLine(s.GetLeader().GetIdentity()), timestamp(s.GetLeader().GetAcquireTime()))
	if s.GetLeading() {
		text += " (the replica that answers)"
	}
	return text
}
