package ratios

import (
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
)

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
