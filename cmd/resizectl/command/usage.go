package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// UsageErrorf says what is wrong with a command line, and where its help is.
func UsageErrorf(cmd *cobra.Command, format string, args ...any) error {
	return fmt.Errorf("%w\nsee \"%s --help\"", fmt.Errorf(format, args...), cmd.CommandPath())
}

// Group makes cmd show its help if called alone, and refuse what is not one
// of its commands: cobra would print the help and call that a success.
func Group(cmd *cobra.Command) {
	cmd.SuggestionsMinimumDistance = 2
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		if similar := cmd.SuggestionsFor(args[0]); len(similar) > 0 {
			return UsageErrorf(cmd, "unknown command %q: did you mean %s?", args[0], strings.Join(similar, " or "))
		}
		return UsageErrorf(cmd, "unknown command %q", args[0])
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}

// Args makes what check refuses a usage error, which says what is wanted
// instead: cobra only counts.
func Args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		_, wanted, takes := strings.Cut(cmd.Use, " ")
		switch err := check(cmd, args); {
		case err == nil:
			return nil
		case !takes:
			return UsageErrorf(cmd, "%w", err)
		case len(args) == 0:
			return UsageErrorf(cmd, "name what it is about: %s", wanted)
		}
		return UsageErrorf(cmd, "%d names are too many: give %s", len(args), wanted)
	}
}
