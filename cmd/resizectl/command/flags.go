package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// OneOf returns the value of a flag that accepts one of several words. kind is what the help
// calls them.
func OneOf[T ~string](value *T, kind string, words []string) pflag.Value {
	return choice[T]{value, kind, words}
}

type choice[T ~string] struct {
	value *T
	kind  string
	words []string
}

// String implements pflag.Value.
func (c choice[T]) String() string { return string(*c.value) }

// Set implements pflag.Value.
func (c choice[T]) Set(s string) error {
	if !slices.Contains(c.words, s) {
		return fmt.Errorf("must be one of %s", strings.Join(c.words, ", "))
	}
	*c.value = T(s)
	return nil
}

// Type implements pflag.Value.
func (c choice[T]) Type() string { return c.kind }

// DryRun is a value of --dry-run. It is none if empty.
type DryRun string

const (
	dryRunNone   DryRun = "none"
	dryRunServer DryRun = "server"
)

var dryRuns = []string{string(dryRunNone), string(dryRunServer)}

// On reports whether the command must not change anything.
func (d DryRun) On() bool { return d == dryRunServer }

// String implements pflag.Value.
func (d *DryRun) String() string { return string(*d) }

// Set implements pflag.Value. Some commands once had a boolean flag by this name, so true
// and false are accepted, too.
func (d *DryRun) Set(s string) error {
	switch s {
	case string(dryRunServer), "true":
		*d = dryRunServer
	case string(dryRunNone), "false":
		*d = dryRunNone
	default:
		return fmt.Errorf("must be one of %s", strings.Join(dryRuns, ", "))
	}
	return nil
}

// Type implements pflag.Value.
func (d *DryRun) Type() string { return "dry-run" }

// AddFlag adds the flag to a command. shows is what a dry run shows, e.g. "what would
// change".
func (d *DryRun) AddFlag(cmd *cobra.Command, shows string) {
	*d = dryRunNone
	flag := cmd.Flags().VarPF(d, "dry-run", "", "none or server; server shows "+shows+" and changes nothing; without a value, the flag means server")
	flag.NoOptDefVal = string(dryRunServer)
	CompleteFlag(cmd, "dry-run", cobra.FixedCompletions(dryRuns, cobra.ShellCompDirectiveNoFileComp))
}

// day is what users mean by 1d: time zones are not known here.
const day = 24 * time.Hour

// days matches the days at the beginning of a duration, and the rest of it.
var days = regexp.MustCompile(`^(\d+)d(.*)$`)

var errDuration = errors.New("must be a duration, such as 30s, 5m, 48h or 2d")

// Duration returns the value of a flag that is a duration. Unlike Go's durations, it may have days, such
// as 2d and 1d12h.
func Duration(value *time.Duration) pflag.Value { return durationValue{value} }

// DurationVar adds a flag that is a duration to a command.
func DurationVar(flags *pflag.FlagSet, value *time.Duration, name string, initial time.Duration, usage string) {
	*value = initial
	flag := flags.VarPF(Duration(value), name, "", usage)
	if initial == 0 {
		flag.DefValue = "" // The help omits it.
	}
}

type durationValue struct{ value *time.Duration }

// String implements pflag.Value. It writes whole days as users do.
func (v durationValue) String() string {
	switch d := *v.value; {
	case d >= 2*day && d%day == 0:
		return fmt.Sprintf("%dd", d/day)
	default:
		return d.String()
	}
}

// Set implements pflag.Value.
func (v durationValue) Set(text string) error {
	d, err := parseDuration(text)
	if err == nil {
		*v.value = d
	}
	return err
}

// Type implements pflag.Value.
func (v durationValue) Type() string { return "duration" }

func parseDuration(text string) (time.Duration, error) {
	match := days.FindStringSubmatch(text)
	if match == nil {
		d, err := time.ParseDuration(text)
		if err != nil {
			return 0, errDuration
		}
		return d, nil
	}
	n, err := strconv.ParseInt(match[1], 10, 64)
	if err != nil || n > int64(math.MaxInt64/day) {
		return 0, fmt.Errorf("is longer than %s: %w", duration.HumanDuration(math.MaxInt64), errDuration)
	}
	total := time.Duration(n) * day
	if match[2] == "" {
		return total, nil
	}
	rest, err := time.ParseDuration(match[2])
	if err != nil || rest < 0 || total > math.MaxInt64-rest {
		return 0, errDuration
	}
	return total + rest, nil
}

// CompleteFlag registers the completion of a flag of cmd.
func CompleteFlag(cmd *cobra.Command, name string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(name, complete); err != nil {
		panic(err) // There is no such flag, or it is registered already.
	}
}

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

var errNotConfirmed = errors.New("not confirmed, so nothing was changed")

// Confirmation asks the user before a command changes many pods.
type Confirmation struct {
	yes     bool
	subject string
}

// AddYesFlag adds --yes. subject is the flag or command that changes many pods.
func (c *Confirmation) AddYesFlag(cmd *cobra.Command, subject string) {
	c.subject = subject
	cmd.Flags().BoolVar(&c.yes, "yes", false, "do not ask for confirmation of "+subject)
}

// Given reports whether --yes is set, so that Ask does not ask.
func (c *Confirmation) Given() bool { return c.yes }

// MustBePossible returns an error if nobody can confirm: without a terminal, --yes is
// required.
func (c *Confirmation) MustBePossible(cmd *cobra.Command, streams genericiooptions.IOStreams) error {
	if !c.yes && !print.IsTerminal(streams.In) {
		return UsageErrorf(cmd, "%s requires --yes if standard input is not a terminal", c.subject)
	}
	return nil
}

// Ask asks the user at the terminal, unless --yes is set.
func (c *Confirmation) Ask(cmd *cobra.Command, streams genericiooptions.IOStreams, question string) error {
	if err := c.MustBePossible(cmd, streams); err != nil || c.yes {
		return err
	}
	return confirm(cmd.Context(), streams.In, streams.ErrOut, question)
}

// confirm returns nil if the answer is yes.
func confirm(ctx context.Context, in io.Reader, out io.Writer, question string) error {
	if _, err := fmt.Fprintf(out, "%s [y/N] ", question); err != nil {
		return err
	}
	answer := make(chan string, 1)
	go func() {
		// The end of the input is not a yes.
		line, _ := bufio.NewReader(in).ReadString('\n')
		answer <- line
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case line := <-answer:
		if word := strings.ToLower(strings.TrimSpace(line)); word == "y" || word == "yes" {
			return nil
		}
		return errNotConfirmed
	}
}
