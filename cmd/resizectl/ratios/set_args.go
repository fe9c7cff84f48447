package ratios

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

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
