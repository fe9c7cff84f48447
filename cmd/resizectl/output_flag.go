package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// addOutputFlag adds -o to a command that prints tables and documents.
func addOutputFlag(cmd *cobra.Command, output *print.Format) { addFormats(cmd, output, print.Formats) }

// addNamingFlag is addOutputFlag for a command that has FormatName, too.
func addNamingFlag(cmd *cobra.Command, output *print.Format) {
	addFormats(cmd, output, print.NamingFormats)
}

func addFormats(cmd *cobra.Command, output *print.Format, has []string) {
	*output = print.FormatTable
	cmd.Flags().VarP(oneOf(output, "format", has), "output", "o", "output format, one of "+strings.Join(has, ", "))
	completeFlag(cmd, "output", cobra.FixedCompletions(has, cobra.ShellCompDirectiveNoFileComp))
}
