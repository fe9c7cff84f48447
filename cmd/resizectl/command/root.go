package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// NewRoot returns the program without commands. Its errors are for Report.
func NewRoot(streams genericiooptions.IOStreams) *cobra.Command {
	root := &cobra.Command{
		Use: "resizectl",
		// Report prints errors, and a page of usage would hide them.
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	root.SetFlagErrorFunc(flagError)
	Group(root)
	return root
}

// Step prepares a command from its flags and arguments before it runs: it parses them,
// checks them, or asks for confirmation.
type Step func(cmd *cobra.Command, args []string) error

// Steps executes the steps in order and then calls run. It stops at the first step that
// fails.
func Steps(run func(context.Context) error, steps ...Step) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		for _, step := range steps {
			if err := step(cmd, args); err != nil {
				return err
			}
		}
		return run(cmd.Context())
	}
}

// UsageErrorf returns an error about a command line, with a pointer to its help.
func UsageErrorf(cmd *cobra.Command, format string, args ...any) error {
	return fmt.Errorf("%w; see \"%s --help\"", fmt.Errorf(format, args...), cmd.CommandPath())
}

// flagTexts replace the parts of errors about flags that are about Go, not about the flag.
var flagTexts = []struct {
	found *regexp.Regexp
	text  string
}{
	{regexp.MustCompile(`: strconv\.Parse(?:Int|Uint): .*$`), ": must be a whole number"},
	{regexp.MustCompile(`: strconv\.ParseFloat: .*$`), ": must be a number"},
	{regexp.MustCompile(`: strconv\.ParseBool: .*$`), ": must be true or false"},
	{regexp.MustCompile(`^unknown shorthand flag: '.' in (-\S+)$`), "unknown flag: $1"},
	{regexp.MustCompile(`^flag needs an argument: '.' in (-\S+)$`), "flag needs an argument: $1"},
}

// flagError returns the error for an invalid flag.
func flagError(cmd *cobra.Command, err error) error {
	message := err.Error()
	for _, t := range flagTexts {
		message = t.found.ReplaceAllString(message, t.text)
	}
	return UsageErrorf(cmd, "%s", message)
}

// Group makes cmd show its help if it is called alone, and reject unknown commands: cobra
// would print the help and succeed.
func Group(cmd *cobra.Command) {
	cmd.SuggestionsMinimumDistance = 2
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		if similar := cmd.SuggestionsFor(args[0]); args[0] != "" && len(similar) > 0 {
			return UsageErrorf(cmd, "unknown command %q: did you mean %s?", args[0], strings.Join(similar, " or "))
		}
		return UsageErrorf(cmd, "unknown command %q", args[0])
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}

// Args turns an error of check into a usage error that says what is expected: cobra only
// counts arguments, or calls them commands.
func Args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		_, wanted, takes := strings.Cut(cmd.Use, " ")
		switch err := check(cmd, args); {
		case err == nil:
			return nil
		case !takes:
			return UsageErrorf(cmd, "unexpected argument %q", args[0])
		case strings.HasPrefix(wanted, "-"):
			return UsageErrorf(cmd, "unexpected argument %q: expected %s", args[0], wanted)
		case len(args) == 0:
			return UsageErrorf(cmd, "missing arguments: expected %s", wanted)
		}
		return UsageErrorf(cmd, "too many arguments: expected %s, not %s", wanted, strings.Join(args, " "))
	}
}

// Exit codes, as "kubectl diff" has them.
const (
	ExitOK          = 0
	ExitDifferences = 1
	ExitError       = 2
	// ExitInvalid means that a configuration is not valid.
	ExitInvalid = 1
	// ExitCheckFailed means that a check failed.
	ExitCheckFailed = 1
	// ExitNotImported means that an import left out rows.
	ExitNotImported = 1
	// ExitInterrupted is 128 + SIGINT, what a shell expects after Ctrl-C.
	ExitInterrupted = 130
)

// EndedBy is the cause of a context that a signal has ended.
type EndedBy struct{ os.Signal }

// Error implements error.
func (e EndedBy) Error() string { return e.String() }

// exit returns 128 + the number of the signal, which is what a shell says of a program that a signal ends.
func (e EndedBy) exit() int {
	if number, ok := e.Signal.(syscall.Signal); ok {
		return 128 + int(number)
	}
	return ExitInterrupted
}

// ErrDifferences ends a plan that would resize something. Nothing failed, so Report prints
// nothing.
var ErrDifferences = errors.New("at least one pod would be resized")

// ErrInvalid ends a check of configurations that are not valid. The faults were printed.
var ErrInvalid = errors.New("at least one configuration is not valid")

// ErrCheckFailed ends checks of which at least one failed. The results were printed.
var ErrCheckFailed = errors.New("at least one check failed")

// ErrNotRestored ends an incomplete restore. The pods that are not restored were printed.
var ErrNotRestored = errors.New("at least one pod is not restored")

// ErrNotImported ends an import that left out rows. The faults were printed.
var ErrNotImported = errors.New("at least one row is bad or was rejected")

// outcomes are the exit codes of errors that need no message.
var outcomes = map[error]int{
	ErrDifferences: ExitDifferences, ErrNotRestored: ExitDifferences, ErrInvalid: ExitInvalid, ErrCheckFailed: ExitCheckFailed, ErrNotImported: ExitNotImported,
}

// Report prints err, if there is anything to print, and returns the exit code.
func Report(ctx context.Context, errOut io.Writer, p print.Painter, err error) int {
	if err == nil {
		return ExitOK
	}
	for outcome, code := range outcomes {
		if errors.Is(err, outcome) {
			return code
		}
	}
	if ctx.Err() != nil {
		if by, ok := errors.AsType[EndedBy](context.Cause(ctx)); ok {
			return by.exit()
		}
		return ExitInterrupted
	}
	for _, err := range joined(err) {
		// If standard error is closed, there is nowhere left to report.
		_, _ = fmt.Fprintf(errOut, "%s %s\n", p.Paint(print.Red, "error:"), lineOf(err))
	}
	return ExitError
}

// joined returns the errors that errors.Join has joined. Each of them has a line.
func joined(err error) []error {
	many, ok := err.(interface{ Unwrap() []error })
	if !ok || errors.Join(many.Unwrap()...).Error() != err.Error() {
		return []error{err}
	}
	return many.Unwrap()
}

// lineOf returns the text of an error on one line, so that scripts and logs can tell errors apart.
func lineOf(err error) string {
	text := ""
	for line := range strings.Lines(print.Printable(err.Error())) {
		switch line = strings.TrimSpace(line); {
		case line == "":
		case text == "":
			text = line
		case strings.HasSuffix(text, ":"):
			text += " " + line
		default:
			text += "; " + line
		}
	}
	return text
}
