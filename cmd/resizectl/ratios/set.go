package ratios

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

type setOptions struct {
	WriteOptions
	end               OverrideEnd
	cpu, memory, etag string
	create            bool

	updates []*workloadresizerv1.UpdateOverrideRequest
	// present are the current ratios, by node type.
	present map[string]*workloadresizerv1.Ratio
}

func newSetCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &setOptions{WriteOptions: WriteOptions{Output: out, Server: server}}
	cmd := &cobra.Command{
		Use:   "set NODE_TYPE [--cpu X] [--memory X] | NODE_TYPE=CPU[/MEMORY] ...",
		Short: "Override the ratios of node types",
		Long: `Override the ratios of node types.

By default, an override takes precedence over the other sources, but not over rules
that name the node type. The other sources stay unchanged, and apply again when the
override is deleted or ends (--for, --until). If you set an override for a limited
time over a permanent one, that one takes effect again at the end. Values that you do
not set stay unchanged. If you name several node types, either all of them are changed
or none.

The command first shows on standard error what would change, and for which pods.
PODS counts the pods that would be resized. VETOED counts the pods that a check, such
as the room on their node, keeps from getting some or all of their new size.
Then it asks for confirmation. If another user changes a ratio in between, nothing
is changed.

A node type that would be faster or slower than the baseline by more than
maxSpeedRatio in config.yaml (by default 5) is not used: pods there keep their
sizes. The command warns of all node types that would not be used because of the
change. With --yes or --dry-run, it then also needs --allow-implausible.

With --dry-run, nothing is changed, and the exit code is as for "kubectl diff":

  0  no pod would get a different size
  1  at least one pod would
  2  an error`,
		Example: `  # Set the CPU performance of n4
  resizectl ratios set n4 --cpu 1.08 --reason "measured with the new kernel"

  # Show what two new ratios would change
  resizectl ratios set n4=1.08 c3=0.98/1.0 --dry-run=server

  # Override a ratio for two hours, without confirmation
  resizectl ratios set n4=1.08 --for 2h --yes

  # Remove the end of an override
  resizectl ratios set n4 --until never`,
		Args:              command.Args(cobra.MinimumNArgs(1)),
		ValidArgsFunction: connect.CompleteNodeTypes(server, 0),
		RunE:              o.RunE(o, o.complete),
	}
	cmd.Flags().StringVar(&o.cpu, "cpu", "", "CPU performance of NODE_TYPE")
	cmd.Flags().StringVar(&o.memory, "memory", "", "memory performance of NODE_TYPE")
	o.end.AddFlags(cmd)
	cmd.Flags().BoolVar(&o.create, "create", false, "allow node types that no source names yet; they need both performances")
	cmd.Flags().StringVar(&o.etag, "etag", "", "change NODE_TYPE only if this is the etag of its ratio, as \"ratios get -o json\" shows it")
	o.AddFlags(cmd, "ratios set")
	return cmd
}

// complete creates the updates from the arguments.
func (o *setOptions) complete(cmd *cobra.Command, args []string) error {
	one := len(args) == 1 && !strings.Contains(args[0], "=")
	switch {
	case !one && (o.cpu != "" || o.memory != ""):
		return command.UsageErrorf(cmd, "--cpu and --memory require a single NODE_TYPE, without \"=\"")
	case len(args) > 1 && o.etag != "":
		return command.UsageErrorf(cmd, "--etag requires a single node type")
	}
	if err := o.end.Validate(cmd); err != nil {
		return err
	}
	for _, arg := range args {
		update, err := o.update(arg, one)
		if err != nil {
			return command.UsageErrorf(cmd, "%w", err)
		}
		if slices.ContainsFunc(o.updates, func(u *workloadresizerv1.UpdateOverrideRequest) bool {
			return u.GetOverride().GetNodeType() == update.GetOverride().GetNodeType()
		}) {
			return command.UsageErrorf(cmd, "%s is named twice", update.GetOverride().GetNodeType())
		}
		o.updates = append(o.updates, update)
	}
	return o.completeEnd(cmd)
}

func (o *setOptions) update(arg string, one bool) (*workloadresizerv1.UpdateOverrideRequest, error) {
	if one && arg != "" {
		return newUpdate(arg, o.cpu, o.memory)
	}
	return assignment(arg)
}

// completeEnd sets when the overrides end. That may be the only change.
func (o *setOptions) completeEnd(cmd *cobra.Command) error {
	end, said, err := o.end.At(cmd)
	switch {
	case err != nil:
		return err
	case !said && len(o.updates[0].GetUpdateMask().GetPaths()) == 0:
		return command.UsageErrorf(cmd, "nothing to set for %s: use --cpu, --memory, --for or --until", o.updates[0].GetOverride().GetNodeType())
	case !said:
		return nil
	}
	for _, update := range o.updates {
		Expire(update, end)
	}
	return nil
}

func (o *setOptions) Read(ctx context.Context, c *client.Client) (err error) {
	if o.present, err = ratiosByType(ctx, c); err != nil {
		return err
	}
	for _, update := range o.updates {
		override := update.GetOverride()
		present := o.present[override.GetNodeType()]
		if o.create && present == nil && (override.CpuPerf == nil || override.MemoryPerf == nil) {
			return fmt.Errorf("node type %q has no ratio yet; %s", override.GetNodeType(), connect.BothPerformances)
		}
		update.AllowMissing, update.AllowNewNodeType = true, o.create
		switch {
		case o.etag != "":
			update.RatioEtag = o.etag
		case present == nil:
			update.RatioEtag = client.NoEtag
		default:
			update.RatioEtag = present.GetEtag()
		}
	}
	return nil
}

func (o *setOptions) Send(ctx context.Context, c *client.Client, validateOnly bool) (Answer, error) {
	return c.Overrides().BatchUpdateOverrides(ctx, &workloadresizerv1.BatchUpdateOverridesRequest{
		Requests: o.updates, ValidateOnly: validateOnly, Reason: o.Reason, AllowImplausible: o.AllowImplausible,
	})
}

func (o *setOptions) Table(answer Answer) *metav1.Table {
	var shifts []Shift
	for _, ratio := range answer.(*workloadresizerv1.BatchUpdateOverridesResponse).GetRatios() {
		shifts = append(shifts, Shift{ratio.GetNodeType(), o.present[ratio.GetNodeType()], ratio})
	}
	return ShiftTable(shifts...)
}

// ratiosByType returns the ratios in effect, by node type.
func ratiosByType(ctx context.Context, c *client.Client) (map[string]*workloadresizerv1.Ratio, error) {
	resp, err := c.ListRatios(ctx)
	if err != nil {
		return nil, err
	}
	byType := map[string]*workloadresizerv1.Ratio{}
	for _, ratio := range resp.GetRatios() {
		byType[ratio.GetNodeType()] = ratio
	}
	return byType, nil
}

// noEnd is the value of --until that removes an end.
const noEnd = "never"

// performance parses a performance: a finite number above 0.
func performance(text string) (float64, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f > 0) || math.IsInf(f, 0) {
		return 0, fmt.Errorf("must be a number above 0, such as 1.08, not %q", text)
	}
	return f, nil
}

// assignment parses NODE_TYPE=CPU, NODE_TYPE=CPU/MEMORY or NODE_TYPE=/MEMORY.
func assignment(arg string) (*workloadresizerv1.UpdateOverrideRequest, error) {
	nodeType, values, _ := strings.Cut(arg, "=")
	cpu, memory, _ := strings.Cut(values, "/")
	if nodeType == "" || cpu == "" && memory == "" {
		return nil, fmt.Errorf("must be NODE_TYPE=CPU or NODE_TYPE=CPU/MEMORY, such as n4=1.08/1.0, not %q", arg)
	}
	update, err := newUpdate(nodeType, cpu, memory)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", nodeType, err)
	}
	return update, nil
}

// newUpdate returns an update of the performances that are not empty.
func newUpdate(nodeType, cpu, memory string) (*workloadresizerv1.UpdateOverrideRequest, error) {
	if strings.ContainsFunc(nodeType, unicode.IsSpace) {
		return nil, fmt.Errorf("node type %q has a space: write it without, as in n4=1.08", nodeType)
	}
	update := &workloadresizerv1.UpdateOverrideRequest{
		Override: &workloadresizerv1.Override{NodeType: nodeType}, UpdateMask: &fieldmaskpb.FieldMask{},
	}
	for _, field := range []struct {
		path, text string
		value      **float64
	}{{"cpu_perf", cpu, &update.Override.CpuPerf}, {"memory_perf", memory, &update.Override.MemoryPerf}} {
		if field.text == "" {
			continue
		}
		perf, err := performance(field.text)
		if err != nil {
			return nil, err
		}
		*field.value = &perf
		update.UpdateMask.Paths = append(update.UpdateMask.Paths, field.path)
	}
	return update, nil
}

// Expire sets when the override ends by itself; nil is never.
func Expire(update *workloadresizerv1.UpdateOverrideRequest, at *timestamppb.Timestamp) {
	update.Override.ExpireTime = at
	update.UpdateMask.Paths = append(update.UpdateMask.Paths, "expire_time")
}

// parseUntil parses the value of --until.
func parseUntil(text string) (*timestamppb.Timestamp, error) {
	if text == noEnd {
		return nil, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil, fmt.Errorf("--until must be a time such as 2026-11-21T18:00:00Z, or %s, not %q", noEnd, text)
	}
	return timestamppb.New(at), nil
}

// OverrideEnd has the flags that set when an override ends by itself.
type OverrideEnd struct {
	ttl   time.Duration
	until string
}

// AddFlags adds --for and --until.
func (e *OverrideEnd) AddFlags(cmd *cobra.Command) {
	command.DurationVar(cmd.Flags(), &e.ttl, "for", 0, "duration of the override, such as 2h or 2d")
	cmd.Flags().StringVar(&e.until, "until", "", "end of the override, such as 2026-11-21T18:00:00Z, or never")
}

// Validate rejects flags that cannot be combined.
func (e *OverrideEnd) Validate(cmd *cobra.Command) error {
	switch {
	case cmd.Flags().Changed("for") && cmd.Flags().Changed("until"):
		return command.UsageErrorf(cmd, "--for and --until cannot be combined")
	case cmd.Flags().Changed("for") && e.ttl < time.Second:
		return command.UsageErrorf(cmd, "--for %s is less than a second; use --until %s for no end", e.ttl, noEnd)
	}
	return nil
}

// At returns when the override ends; nil is never. said reports whether a flag sets the end.
func (e *OverrideEnd) At(cmd *cobra.Command) (end *timestamppb.Timestamp, said bool, err error) {
	switch {
	case cmd.Flags().Changed("for"):
		return timestamppb.New(time.Now().Add(e.ttl + time.Second - 1).Truncate(time.Second)), true, nil
	case cmd.Flags().Changed("until"):
		if end, err = parseUntil(e.until); err != nil {
			return nil, true, command.UsageErrorf(cmd, "%w", err)
		}
		return end, true, nil
	}
	return nil, false, nil
}
