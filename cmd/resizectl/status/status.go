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
	var lines [][2]string
	for _, line := range Lines(o, s) {
		lines = append(lines, [2]string{line.Name, line.Text})
	}
	if err := print.Lines(o.Out, 10, lines); err != nil {
		return err
	}
	type count = *workloadresizerv1.PodCount
	return o.TableBelow(objects.Table([]objects.Column[count]{
		objects.Cell("Decision", func(n count) any { return print.Decision(n.GetDecision()) }),
		objects.Text("Reason", count.GetCode),
		objects.Count("Pods", count.GetPods),
	}, s.GetPods()...))
}

// Kind is what a line means to people.
type Kind int

const (
	// Fact is how the server is, or was set up.
	Fact Kind = iota
	// Alarm needs a person.
	Alarm
	// Count is how many of something there are, which other commands list.
	Count
)

// Line is a part of the state of the server: a name, what it is now, and the commands that help.
type Line struct {
	Kind       Kind
	Name, Text string
	// More continues the text where there is more room than in a line.
	More     string
	Commands []print.Command
}

// alarm returns a line that ends with what a command does. Others may have written a part of the text before that.
func alarm(o *print.Output, name string, style print.Style, text, advice, command, end string) Line {
	return Line{Kind: Alarm, Name: name, Text: o.Painter().Paint(style, text+advice+o.Commands(`"`+command+`"`)+end), Commands: []print.Command{print.CommandOf(command, nil)}}
}

// Lines returns the state of the server, except for the numbers of pods. Several lines can have the same name.
func Lines(o *print.Output, s *workloadresizerv1.GetStatusResponse) []Line {
	p := o.Painter()
	lines := []Line{
		{Name: "replica", Text: fmt.Sprintf("%s, version %s, since %s", print.OrAbsent(print.OneLine(s.GetReplica())), print.OrAbsent(print.OneLine(s.GetVersion())), print.Timestamp(s.GetStartTime()))},
		{Name: "leader", Text: leaderText(s)},
	}
	if o.Wide() {
		lines = append(lines, Line{Name: "lease", Text: "renewed " + print.Timestamp(s.GetLeader().GetRenewTime())})
	}
	if s.GetFreeze() != nil {
		lines = append(lines, alarm(o, "frozen", print.Red, print.Freeze(s.GetFreeze()), "; no pod is resized until ", "resizectl unfreeze", ""))
	}
	lines = append(lines, degradedLines(o, s)...)
	if n := s.GetEmergencyRestores(); n > 0 {
		lines = append(lines, alarm(o, "restore", print.Red, print.CountOf(n, "emergency restore"), " in effect: see ", "resizectl holds", ""))
	}
	if s.GetDryRun() {
		lines = append(lines, Line{Name: "mode", Text: p.Paint(print.Added, "--dry-run: it plans, but writes nothing")})
	}
	if s.GetSizesAtCreation() {
		lines = append(lines, Line{Name: "creation", Text: "--size-at-creation: it sizes pods while they are created"})
	}
	revision := "none yet"
	if s.GetRatioRevision() != "" {
		revision = "revision " + print.OneLine(s.GetRatioRevision())
	}
	lines = append(lines,
		Line{Name: "ratios", Text: revision},
		Line{Kind: Count, Name: "queue", Text: print.Queue(s)},
		Line{Kind: Count, Name: "holds", Text: fmt.Sprint(s.GetHolds())},
	)
	lines = append(lines, evictionLines(o, s)...)
	if n := s.GetOverloadedNodes(); n > 0 {
		lines = append(lines, alarm(o, "overload", print.Plain, print.CountOf(n, "overloaded node"), ": ", "kubectl get events -A --field-selector reason=NodeOverloaded", " says why"))
	}
	if len(s.GetProblems())+len(s.GetNodeTypesWithoutRatio()) == 0 {
		return append(lines, Line{Kind: Count, Name: "problems", Text: "none"})
	}
	for _, problem := range s.GetProblems() {
		lines = append(lines, Line{Kind: Alarm, Name: "problem", Text: p.Paint(print.Red, print.OneLine(problem))})
	}
	for _, found := range s.GetNodeTypesWithoutRatio() {
		line := Line{Kind: Alarm, Name: "problem", Text: p.Paint(print.Red, print.WithoutRatio(found))}
		if suggest := print.CommandOf("resizectl ratios suggest TYPE", map[string]print.Command{"TYPE": print.Argument(found.GetNodeType())}); suggest != nil {
			line.Commands, line.More = []print.Command{suggest}, "; this command shows whether one was measured"
		}
		lines = append(lines, line)
	}
	return lines
}

// mostEvictions is how many evictions are listed.
const mostEvictions = 10

// evictionLines says which pods were evicted, and how many may be.
func evictionLines(o *print.Output, s *workloadresizerv1.GetStatusResponse) (lines []Line) {
	done := s.GetEvictions()
	for _, e := range done[:min(len(done), mostEvictions)] {
		lines = append(lines, Line{Name: "evicted", Text: print.OneLine(fmt.Sprintf("%s/%s from %s (%s) at %s", e.GetNamespace(), e.GetPod(), e.GetNode(), e.GetCode(), print.Timestamp(e.GetEvictTime())))})
	}
	if more := len(done) - mostEvictions; more > 0 {
		lines = append(lines, Line{Name: "evicted", Text: fmt.Sprintf("%d more within an hour", more)})
	}
	if n := s.GetEvictionBacklog(); n > 0 {
		lines = append(lines, alarm(o, "no room", print.Plain, print.CountOf(n, "pod"), " may be evicted: ", "resizectl plan -A", " says which, and why not yet"))
	}
	return lines
}

// degradedLines says which breakers are open.
func degradedLines(o *print.Output, s *workloadresizerv1.GetStatusResponse) (lines []Line) {
	if whole := s.GetClusterBreaker(); whole != nil {
		text := fmt.Sprintf("the breaker of the cluster is open since %s: %s", print.Timestamp(whole.GetCreateTime()), print.OneLine(whole.GetReason()))
		lines = append(lines, alarm(o, "degraded", print.Red, text, "; no pod is sized until ", "resizectl resume -A --kind breaker", ""))
	}
	if narrow := print.NarrowBreakers(s); narrow != "" {
		lines = append(lines, alarm(o, "degraded", print.Red, narrow, ", so their pods are not sized; ", "resizectl holds", " lists them"))
	}
	return lines
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
