package resizes

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// resizeStates are the states as words, in the order of the help.
var resizeStates = []struct {
	state workloadresizerv1.ResizeState
	name  string
	style print.Style
}{
	{workloadresizerv1.ResizeState_RESIZE_STATE_ACTUATED, "actuated", print.Plain},
	{workloadresizerv1.ResizeState_RESIZE_STATE_PENDING, "pending", print.Plain},
	{workloadresizerv1.ResizeState_RESIZE_STATE_IN_PROGRESS, "in-progress", print.Plain},
	{workloadresizerv1.ResizeState_RESIZE_STATE_DEFERRED, "deferred", print.Notable},
	{workloadresizerv1.ResizeState_RESIZE_STATE_INFEASIBLE, "infeasible", print.Red},
	{workloadresizerv1.ResizeState_RESIZE_STATE_FAILED, "failed", print.Red},
}

func stateNames() []string {
	names := make([]string, len(resizeStates))
	for i, s := range resizeStates {
		names[i] = s.name
	}
	return names
}

// State returns the state of a resize on the node, as a word.
func State(state workloadresizerv1.ResizeState) print.Cell {
	for _, s := range resizeStates {
		if s.state == state {
			return print.Cell{Text: s.name, Style: s.style}
		}
	}
	// A newer server may know more states than this version.
	return print.Cell{Text: state.String()}
}

func addStateFlag(cmd *cobra.Command, states *[]string) {
	cmd.Flags().StringSliceVar(states, "state", nil, "only pods in these states, any of "+strings.Join(stateNames(), ", "))
	command.CompleteFlag(cmd, "state", cobra.FixedCompletions(stateNames(), cobra.ShellCompDirectiveNoFileComp))
}

func parseStates(cmd *cobra.Command, names []string) ([]workloadresizerv1.ResizeState, error) {
	var states []workloadresizerv1.ResizeState
next:
	for _, name := range names {
		for _, s := range resizeStates {
			if s.name == name {
				states = append(states, s.state)
				continue next
			}
		}
		return nil, command.UsageErrorf(cmd, "--state %q must be one of %s", name, strings.Join(stateNames(), ", "))
	}
	return states, nil
}
