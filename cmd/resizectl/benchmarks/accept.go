package benchmarks

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/ratios"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

type acceptOptions struct {
	ratios.WriteOptions
	nodeType string
	// from is the source whose suggestion is accepted.
	from  string
	force bool
	flags ratios.OverrideEnd
	// end is when the override ends, if ends says that a flag sets it.
	end  *timestamppb.Timestamp
	ends bool

	// suggestion was read from the server; update makes it an override.
	suggestion *workloadresizerv1.Suggestion
	update     *workloadresizerv1.UpdateOverrideRequest
}

func newAcceptCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &acceptOptions{WriteOptions: ratios.WriteOptions{Output: out, Server: server}, from: benchmarkSource}
	cmd := &cobra.Command{
		Use:   "accept NODE_TYPE",
		Short: "Override the ratio of a node type with its suggestion",
		Long: `Override the ratio of a node type with the suggestion of its benchmarks, or with
what production shows.

The override is the same as one of "resizectl ratios set". "resizectl ratios
delete" removes it, and the history records what it is from. It does not follow
later measurements. The command warns if production contradicts the benchmarks.

The command first shows on standard error what would change, and for which pods.
Then it asks for confirmation. If another user changes the ratio in between,
nothing is changed. A suggestion that is held back is rejected, unless you set
--force. If node types would then be beyond maxSpeedRatio and not used, the command
warns of them. With --yes or --dry-run, it then also needs --allow-implausible.

With --dry-run, nothing is changed, and the exit code is as for "kubectl diff":

  0  no pod would get a different size
  1  at least one pod would
  2  an error`,
		Example: `  # Show what the suggestion would change
  resizectl benchmark accept n4 --dry-run

  # Accept the suggestion
  resizectl benchmark accept n4 --reason "measured with the new kernel"

  # Accept what production shows
  resizectl benchmark accept n4 --from production

  # Accept a suggestion that is held back, for one day and without confirmation
  resizectl benchmark accept e2@Intel-6-79 --force --for 24h --yes`,
		Args:              command.Args(cobra.ExactArgs(1)),
		ValidArgsFunction: completeSuggestions(server),
		RunE:              o.RunE(o, command.Name(&o.nodeType, "the node type is empty"), o.complete),
	}
	cmd.Flags().Var(command.OneOf(&o.from, "source", []string{benchmarkSource, productionSource}), "from", "whose suggestion to accept: benchmark or production")
	cmd.Flags().BoolVar(&o.force, "force", false, "also accept a suggestion that is held back")
	o.flags.AddFlags(cmd)
	o.AddFlags(cmd, "benchmark accept")
	return cmd
}

func (o *acceptOptions) complete(cmd *cobra.Command, _ []string) (err error) {
	if err := o.flags.Validate(cmd); err != nil {
		return err
	}
	o.end, o.ends, err = o.flags.At(cmd)
	return err
}

func (o *acceptOptions) Read(ctx context.Context, c *client.Client) error {
	resp, err := c.Benchmarks().GetSuggestion(ctx, &workloadresizerv1.GetSuggestionRequest{NodeType: o.nodeType})
	if err != nil {
		return err
	}
	s := resp.GetSuggestion()
	cpuPerf, holds := s.CpuPerf, s.GetHolds()
	if o.from == productionSource {
		cpuPerf, holds = s.GetProduction().CpuPerf, s.GetProduction().GetHolds()
	}
	if cpuPerf == nil {
		return o.nothing(s)
	}
	if err := o.heldBack(s, holds); err != nil {
		return err
	}
	if err := o.contradicted(s); err != nil {
		return err
	}
	o.suggestion = s
	o.update = &workloadresizerv1.UpdateOverrideRequest{
		Override:         &workloadresizerv1.Override{NodeType: s.GetNodeType(), CpuPerf: cpuPerf, MemoryPerf: s.MemoryPerf},
		UpdateMask:       &fieldmaskpb.FieldMask{Paths: []string{"cpu_perf", "memory_perf"}},
		AllowMissing:     true,
		AllowNewNodeType: true,
		RatioEtag:        s.GetRatioEtag(),
		Reason:           o.why(s),
	}
	if o.ends {
		ratios.Expire(o.update, o.end)
	}
	return nil
}

// nothing returns why there is nothing to accept.
func (o *acceptOptions) nothing(s *workloadresizerv1.Suggestion) error {
	if o.from == productionSource {
		return fmt.Errorf("there is nothing to accept: production does not show how fast %s is; \"resizectl ratios suggest %[1]s\" shows why", s.GetNodeType())
	}
	return fmt.Errorf("there is nothing to accept: no benchmark was run on both %s and %s; "+
		"\"resizectl benchmark list\" shows the measurements", s.GetNodeType(), s.GetBaselineNodeType())
}

// heldBack returns why the suggestion is rejected; with --force, it only prints a warning.
func (o *acceptOptions) heldBack(s *workloadresizerv1.Suggestion, holds []*workloadresizerv1.SuggestionHold) error {
	why := strings.Join(print.Each(holds, func(h *workloadresizerv1.SuggestionHold) string {
		return print.OneLine(h.GetCode() + ": " + h.GetMessage())
	}), "; ")
	switch {
	case why == "":
		return nil
	case o.force:
		return print.Texts(o.ErrOut, fmt.Sprintf("warning: the suggestion for %s is held back: %s", print.OneLine(s.GetNodeType()), why))
	}
	return fmt.Errorf("the suggestion for %s is held back: %s; accept it anyway with --force", s.GetNodeType(), why)
}

// contradicted prints a warning if production contradicts the benchmarks whose suggestion is accepted.
func (o *acceptOptions) contradicted(s *workloadresizerv1.Suggestion) error {
	if o.from == productionSource || !contradicted(s, benchmarkSource) {
		return nil
	}
	return print.Texts(o.ErrOut, fmt.Sprintf("warning: production contradicts this suggestion: it shows %s; accept that with --from production",
		rangeText(s.GetProduction().GetRatio(), s.GetProduction().GetInterval())))
}

// why returns the reason for the history.
func (o *acceptOptions) why(s *workloadresizerv1.Suggestion) string {
	if o.from == benchmarkSource {
		return acceptReason(o.Reason, s)
	}
	p := s.GetProduction()
	reason := fmt.Sprintf("accepted from production: %s, %s on %s", rangeText(p.GetRatio(), p.GetInterval()), print.CountOf(p.GetWorkloads(), "workload"), print.CountOf(p.GetNodes(), "node"))
	switch text := o.Reason + "; " + reason; {
	case o.Reason == "":
		return reason
	case len(text) <= maxReason:
		return text
	}
	return o.Reason
}

func (o *acceptOptions) Send(ctx context.Context, c *client.Client, validateOnly bool) (ratios.Answer, error) {
	update := proto.CloneOf(o.update)
	update.ValidateOnly, update.AllowImplausible = validateOnly, o.AllowImplausible
	return c.Overrides().UpdateOverride(ctx, update)
}

func (o *acceptOptions) Table(answer ratios.Answer) *metav1.Table {
	ratio := answer.(*workloadresizerv1.UpdateOverrideResponse).GetRatio()
	return ratios.ShiftTable(ratios.Shift{NodeType: ratio.GetNodeType(), Old: o.suggestion.GetCurrent(), New: ratio})
}

// maxReason is the maximum length of the reason for a change, in bytes.
const maxReason = 512

// acceptReason returns the reason for the history: the user's own reason, and then the
// benchmarks that the override is from. It names as many benchmarks as there is room for,
// and never cuts the user's reason.
func acceptReason(says string, s *workloadresizerv1.Suggestion) string {
	reason := "accepted from benchmarks"
	if says != "" {
		reason = says + "; " + reason
	}
	parts := print.Each(countedParts(s), func(part *workloadresizerv1.SuggestionPart) string {
		return fmt.Sprintf("%s %.3g", print.OneLine(part.GetBenchmark()), part.GetRatio())
	})
	for named := len(parts); named > 0; named-- {
		text := reason + ": " + strings.Join(parts[:named], ", ")
		if left := len(parts) - named; left > 0 {
			text += fmt.Sprintf(" and %d more", left)
		}
		if len(text) <= maxReason {
			return text
		}
	}
	if len(reason) <= maxReason {
		return reason
	}
	return says
}
