package command

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// AddOutputFlag adds -o to a command that prints tables and documents.
func AddOutputFlag(cmd *cobra.Command, output *print.Format) { addFormats(cmd, output, print.Formats) }

// AddNamingFlag is like AddOutputFlag, for a command that also has FormatName.
func AddNamingFlag(cmd *cobra.Command, output *print.Format) {
	addFormats(cmd, output, print.NamingFormats)
}

func addFormats(cmd *cobra.Command, output *print.Format, has []string) {
	*output = print.FormatTable
	cmd.Flags().VarP(OneOf(output, "format", has), "output", "o", "output format, one of "+strings.Join(has, ", "))
	CompleteFlag(cmd, "output", cobra.FixedCompletions(has, cobra.ShellCompDirectiveNoFileComp))
}
