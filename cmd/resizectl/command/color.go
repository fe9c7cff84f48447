package command

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// AddColorFlag adds --color to a command and its subcommands.
func AddColorFlag(root *cobra.Command, mode *print.ColorMode) {
	root.PersistentFlags().Var(OneOf(mode, "when", print.ColorModes), "color", "when to use colors, one of "+strings.Join(print.ColorModes, ", ")+"; auto uses them on a terminal, unless NO_COLOR is set")
	CompleteFlag(root, "color", cobra.FixedCompletions(print.ColorModes, cobra.ShellCompDirectiveNoFileComp))
}
