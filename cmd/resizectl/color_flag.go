package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// addColorFlag adds --color to a command and all below it.
func addColorFlag(root *cobra.Command, mode *print.ColorMode) {
	root.PersistentFlags().Var(oneOf(mode, "when", print.ColorModes), "color", "when to use colours, one of "+strings.Join(print.ColorModes, ", ")+"; auto is on a terminal, unless NO_COLOR is set")
	completeFlag(root, "color", cobra.FixedCompletions(print.ColorModes, cobra.ShellCompDirectiveNoFileComp))
}
