package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// addOutputFlag adds -o to a command that prints tables and documents.
func addOutputFlag(cmd *cobra.Command, output *format) { addFormats(cmd, output, formats) }

// addNamingFlag is addOutputFlag for a command that has formatName, too.
func addNamingFlag(cmd *cobra.Command, output *format) { addFormats(cmd, output, namingFormats) }

func addFormats(cmd *cobra.Command, output *format, has []string) {
	*output = formatTable
	cmd.Flags().VarP(oneOf(output, "format", has), "output", "o", "output format, one of "+strings.Join(has, ", "))
	completeFlag(cmd, "output", cobra.FixedCompletions(has, cobra.ShellCompDirectiveNoFileComp))
}
