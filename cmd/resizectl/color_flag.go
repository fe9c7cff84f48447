package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// addColorFlag adds --color to a command and all below it.
func addColorFlag(root *cobra.Command, mode *colorMode) {
	root.PersistentFlags().Var(oneOf(mode, "when", colorModes), "color", "when to use colours, one of "+strings.Join(colorModes, ", ")+"; auto is on a terminal, unless NO_COLOR is set")
	completeFlag(root, "color", cobra.FixedCompletions(colorModes, cobra.ShellCompDirectiveNoFileComp))
}
