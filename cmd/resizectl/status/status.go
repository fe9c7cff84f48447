package status

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// NewCommand returns status.
func NewCommand(out print.Output, server *connect.Connection) *cobra.Command {
	return objects.Page[*workloadresizerv1.GetStatusResponse]{
		Verb: objects.Verb{
			Use:   "status",
			Short: "Show the state of the server: its leader, its queue, its problems",
			Long: `Show the state of the server: which replica answers and which one resizes, what is
queued, what is wrong, and how many pods there are by decision and reason.

The exit code is 0 if the server answers, even if it reports problems.

With --watch, the state follows again whenever it has changed. ` + connect.PollHelp,
			Example: `  # Show whether the server is healthy
  resizectl status

  # Count the skipped pods by reason
  resizectl status -o json | jq '.pods[] | select(.decision == "DECISION_SKIP")'`,
		},
		Fetch: func(ctx context.Context, c *client.Client, _ *print.Output) (*workloadresizerv1.GetStatusResponse, error) {
			return c.Status(ctx)
		},
		Text:      printStatus,
		WatchFlag: "after the state, print it again whenever it has changed",
	}.Command(out, server)
}

// printStatus prints single values as lines, and the pods as a table.
func printStatus(o *print.Output, s *workloadresizerv1.GetStatusResponse) error {
	if err := print.Lines(o.Out, 10, Lines(o, s)); err != nil {
		return err
	}
	type count = *workloadresizerv1.PodCount
	return o.TableBelow(objects.Table([]objects.Column[count]{
		objects.Cell("Decision", func(n count) any { return print.Decision(n.GetDecision()) }),
		objects.Text("Reason", count.GetCode),
		objects.Count("Pods", count.GetPods),
	}, s.GetPods()...))
}

// Lines returns the state of the server, except for the numbers of pods, as names and texts. A name can be there several times.
func Lines(o *print.Output, s *workloadresizerv1.GetStatusResponse) [][2]string {
	p := o.Painter()
	lines := [][2]string{
		{"replica", fmt.Sprintf("%s, version %s, since %s", print.OrAbsent(print.OneLine(s.GetReplica())), print.OrAbsent(print.OneLine(s.GetVersion())), print.Timestamp(s.GetStartTime()))},
		{"leader", leaderText(s)},
	}
	if o.Wide() {
		lines = append(lines, [2]string{"lease", "renewed " + print.Timestamp(s.GetLeader().GetRenewTime())})
	}
	if s.GetFreeze() != nil {
		lines = append(lines, [2]string{"frozen", p.Paint(print.Red, print.Freeze(s.GetFreeze())+o.Commands("; no pod is resized until \"resizectl unfreeze\""))})
	}
	for _, text := range degradedTexts(s) {
		lines = append(lines, [2]string{"degraded", p.Paint(print.Red, o.Commands(text))})
	}
	if n := s.GetEmergencyRestores(); n > 0 {
		lines = append(lines, [2]string{"restore", p.Paint(print.Red, print.CountOf(n, "emergency restore")+o.Commands(" in effect: see \"resizectl holds\""))})
	}
	if s.GetDryRun() {
		lines = append(lines, [2]string{"mode", p.Paint(print.Added, "--dry-run: it plans, but writes nothing")})
	}
	if s.GetSizesAtCreation() {
		lines = append(lines, [2]string{"creation", "--size-at-creation: it sizes pods while they are created"})
	}
	revision := "none yet"
	if s.GetRatioRevision() != "" {
		revision = "revision " + print.OneLine(s.GetRatioRevision())
	}
	lines = append(lines,
		[2]string{"ratios", revision},
		[2]string{"queue", print.Queue(s)},
		[2]string{"holds", fmt.Sprint(s.GetHolds())},
	)
	lines = append(lines, evictionLines(o, s)...)
	if n := s.GetOverloadedNodes(); n > 0 {
		lines = append(lines, [2]string{"overload", print.CountOf(n, "overloaded node") + o.Commands(": \"kubectl get events -A --field-selector reason=NodeOverloaded\" says why")})
	}
	if len(s.GetProblems())+len(s.GetNodeTypesWithoutRatio()) == 0 {
		return append(lines, [2]string{"problems", "none"})
	}
	for _, problem := range s.GetProblems() {
		lines = append(lines, [2]string{"problem", p.Paint(print.Red, print.OneLine(problem))})
	}
	for _, found := range s.GetNodeTypesWithoutRatio() {
		lines = append(lines, [2]string{"problem", p.Paint(print.Red, print.WithoutRatio(found))})
	}
	return lines
}

// mostEvictions is how many evictions are listed.
const mostEvictions = 10

// evictionLines says which pods were evicted, and how many may be.
func evictionLines(o *print.Output, s *workloadresizerv1.GetStatusResponse) (lines [][2]string) {
	done := s.GetEvictions()
	for _, e := range done[:min(len(done), mostEvictions)] {
		lines = append(lines, [2]string{"evicted", print.OneLine(fmt.Sprintf("%s/%s from %s (%s) at %s", e.GetNamespace(), e.GetPod(), e.GetNode(), e.GetCode(), print.Timestamp(e.GetEvictTime())))})
	}
	if more := len(done) - mostEvictions; more > 0 {
		lines = append(lines, [2]string{"evicted", fmt.Sprintf("%d more within an hour", more)})
	}
	if n := s.GetEvictionBacklog(); n > 0 {
		lines = append(lines, [2]string{"no room", print.CountOf(n, "pod") + o.Commands(" may be evicted: \"resizectl plan -A\" says which, and why not yet")})
	}
	return lines
}

// degradedTexts says which breakers are open.
func degradedTexts(s *workloadresizerv1.GetStatusResponse) []string {
	var texts []string
	if whole := s.GetClusterBreaker(); whole != nil {
		texts = append(texts, fmt.Sprintf("the breaker of the cluster is open since %s: %s; no pod is sized until \"resizectl resume -A --kind breaker\"",
			print.Timestamp(whole.GetCreateTime()), print.OneLine(whole.GetReason())))
	}
	if narrow := print.NarrowBreakers(s); narrow != "" {
		texts = append(texts, narrow+", so their pods are not sized; \"resizectl holds\" lists them")
	}
	return texts
}

func leaderText(s *workloadresizerv1.GetStatusResponse) string {
	if s.GetLeader() == nil {
		if s.GetLeading() {
			return "this replica"
		}
		return "unknown"
	}
	text := fmt.Sprintf("%s, since %s", print.OneLine(s.GetLeader().GetIdentity()), print.Timestamp(s.GetLeader().GetAcquireTime()))
	if s.GetLeading() {
		text += " (this replica)"
	}
	return text
}
