package command

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// AddOutputFlag adds -o to a command that prints tables and documents.
func AddOutputFlag(cmd *cobra.Command, output *print.Format) {
	*output = print.FormatTable
	addFormats(cmd, output, print.DocumentFormats)
}

// AddTextOutputFlag is like AddOutputFlag, for a command that prints text instead of tables unless -o
// is set.
func AddTextOutputFlag(cmd *cobra.Command, output *print.Format) {
	addFormats(cmd, output, print.TextFormats)
}

// AddRowFlags adds -o, --no-headers and --sort-by to a command that prints rows.
func AddRowFlags(cmd *cobra.Command, out *print.Output) {
	out.Format = print.FormatTable
	addFormats(cmd, &out.Format, print.RowFormats)
	addHeaderFlag(cmd, out)
	addSortFlag(cmd, out)
}

// AddListFlags is like AddRowFlags, for a command whose rows have names.
func AddListFlags(cmd *cobra.Command, out *print.Output) {
	AddObjectFlags(cmd, out)
	addSortFlag(cmd, out)
}

// AddObjectFlags adds -o and --no-headers to a command that prints one object with a name, or
// objects in an order of their own.
func AddObjectFlags(cmd *cobra.Command, out *print.Output) {
	out.Format = print.FormatTable
	addFormats(cmd, &out.Format, print.NamingFormats)
	addHeaderFlag(cmd, out)
}

func addHeaderFlag(cmd *cobra.Command, out *print.Output) {
	cmd.Flags().BoolVar(&out.NoHeaders, "no-headers", false, "print tables and custom columns without headers")
}

func addSortFlag(cmd *cobra.Command, out *print.Output) {
	cmd.Flags().Var(&out.SortBy, "sort-by", "sort by this field of the objects that -o json shows, such as .pod or .containers[0].current.requests.cpu")
}

func addFormats(cmd *cobra.Command, output *print.Format, words []string) {
	cmd.Flags().VarP(formatValue{output, words}, "output", "o", "output format, one of "+strings.Join(words, ", "))
	CompleteFlag(cmd, "output", completeFormats(words))
}

// formatValue is the value of -o, which must be one of words.
type formatValue struct {
	format *print.Format
	words  []string
}

// String implements pflag.Value.
func (v formatValue) String() string { return v.format.String() }

// Set implements pflag.Value.
func (v formatValue) Set(text string) (err error) {
	*v.format, err = print.ParseFormat(text, v.words)
	return err
}

// Type implements pflag.Value.
func (v formatValue) Type() string { return "format" }

// completeFormats completes formats. A template follows on the same word, so no space is added there.
func completeFormats(words []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if strings.Contains(typed, "=") {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// AddColorFlag adds --color to a command and its subcommands.
func AddColorFlag(root *cobra.Command, mode *print.ColorMode) {
	root.PersistentFlags().Var(OneOf(mode, "when", print.ColorModes), "color", "when to use colors, one of "+strings.Join(print.ColorModes, ", ")+"; auto uses them on a terminal, unless NO_COLOR is set")
	CompleteFlag(root, "color", cobra.FixedCompletions(print.ColorModes, cobra.ShellCompDirectiveNoFileComp))
}
