package main

import (
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// printStatus prints what there is once as lines, and the pods as a table.
func printStatus(w io.Writer, p painter, s *workloadresizerv1.GetStatusResponse, wide bool) error {
	if err := printLines(w, 10, statusLines(p, s, wide)); err != nil {
		return err
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
	return printTable(w, p, wide, table)
}

func statusLines(p painter, s *workloadresizerv1.GetStatusResponse, wide bool) [][2]string {
	lines := [][2]string{
		{"replica", fmt.Sprintf("%s, version %s, since %s", orAbsent(oneLine(s.GetReplica())), orAbsent(oneLine(s.GetVersion())), timestamp(s.GetStartTime()))},
		{"leader", leaderText(s)},
	}
	if wide {
		lines = append(lines, [2]string{"lease", "renewed " + timestamp(s.GetLeader().GetRenewTime())})
	}
	if s.GetDryRun() {
		lines = append(lines, [2]string{"mode", p.paint(added, "--dry-run: it plans and writes nothing")})
	}
	revision := "none yet"
	if s.GetRatioRevision() != "" {
		revision = "revision " + oneLine(s.GetRatioRevision())
	}
	lines = append(lines,
		[2]string{"ratios", revision},
		[2]string{"queue", fmt.Sprintf("%s to look at, %s to size anew", countOf(s.GetQueueLength(), "pod"), countOf(s.GetRealignBacklog(), "pod"))},
		[2]string{"holds", fmt.Sprint(s.GetHolds())},
	)
	if len(s.GetProblems()) == 0 {
		return append(lines, [2]string{"problems", "none"})
	}
	for _, problem := range s.GetProblems() {
		lines = append(lines, [2]string{"problem", p.paint(red, oneLine(problem))})
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
