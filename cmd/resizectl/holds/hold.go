package holds

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// holdOptions are the options of a hold, for restore and pause.
type holdOptions struct {
	reason string
	ttl    time.Duration
}

func (o *holdOptions) addHoldFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.reason, "reason", "", "reason, shown in the list of holds")
	command.DurationVar(cmd.Flags(), &o.ttl, "for", 0, "duration, such as 2h or 2d (default: until resizectl resume)")
}

func (o *holdOptions) validate(cmd *cobra.Command, _ []string) error {
	if cmd.Flags().Changed("for") && o.ttl < time.Second {
		return command.UsageErrorf(cmd, "--for %s is less than a second; omit it for no end", o.ttl)
	}
	return nil
}

// ttlMessage returns --for, rounded up to the whole seconds that holds are stored with, so
// that none ends early.
func (o *holdOptions) ttlMessage() *durationpb.Duration {
	if o.ttl == 0 {
		return nil
	}
	return durationpb.New((o.ttl + time.Second - 1).Truncate(time.Second))
}

// warnEmpty warns that a scope has no pods now, which may be due to a typo; empty if it has some. pods is nil if
// the number is not known.
func warnEmpty(scope *workloadresizerv1.HoldScope, pods *int64) string {
	says := print.Scope(scope) + " has no pods"
	switch {
	case pods == nil || *pods > 0:
		return ""
	case scope.GetPod() != nil:
		says = print.Scope(scope) + " does not exist"
	case scope.GetAllNamespaces() != nil:
		says = "the cluster has no pods"
	}
	return "warning: " + says + " now"
}

// printHold prints what was stored: as a line with did, or as a document for programs.
func printHold(o *print.Output, hold *workloadresizerv1.Hold, did string) error {
	switch {
	case o.Format.IsDocument():
		return o.Document(hold)
	case o.Format.IsListing():
		return print.Listing(o, holdName, hold)
	}
	end := ""
	if hold.GetExpireTime() != nil {
		end = " until " + print.Timestamp(hold.GetExpireTime())
	}
	_, err := fmt.Fprintf(o.Out, "%s %s%s\n", print.Scope(hold.GetScope()), did, end)
	return err
}
