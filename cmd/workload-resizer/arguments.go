package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// usageError returns an error about a command line, with a pointer to the help.
func usageError(cmd *cobra.Command, err error) error {
	return fmt.Errorf("%w\nsee \"%s --help\"", err, cmd.CommandPath())
}

// goneFlags says what to do instead of each flag that serve no longer has.
var goneFlags = map[string]string{
	"benchmark-ratios-name": "the name is --name-prefix, followed by -benchmark-ratios",
	"benchmarks-name":       "the name is --name-prefix, followed by -benchmarks",
	"freeze-name":           "the name is --name-prefix, followed by -freeze",
	"holds-name":            "the name is --name-prefix, followed by -holds",
	"leader-renew-deadline": "it is two thirds of --leader-lease-duration",
	"leader-retry-period":   "it is a fifteenth of --leader-lease-duration, but at least half a second",
	"lease-name":            "the name is --name-prefix",
	"overrides-name":        "the name is --name-prefix, followed by -overrides",
	"realign-rate":          "set pace.resizesPerSecond in config.yaml",
	"samples-prefix":        "the prefix is --name-prefix, followed by -samples-",
	"tls-ca-name":           "the name is --name-prefix, followed by -ca",
	"tls-secret-name":       "the name is --name-prefix, followed by -tls",
	"usage-prefix":          "the prefix is --name-prefix, followed by -usage",
}

// flagError explains an invalid flag. All flags belong to commands, none to the program.
func flagError(cmd *cobra.Command, err error) error {
	if !cmd.HasParent() {
		err = fmt.Errorf("%w before the command: flags follow it, as in %s serve --dry-run", err, cmd.Name())
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && cmd.Name() == "serve" {
		if instead := goneFlags[unknown.GetSpecifiedName()]; instead != "" {
			err = fmt.Errorf("--%s no longer exists: %s", unknown.GetSpecifiedName(), instead)
		}
	}
	return usageError(cmd, err)
}

// noArguments rejects all arguments. cobra's own check would call them unknown commands.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usageError(cmd, fmt.Errorf("unexpected argument %q: the value of a flag that is true or false follows \"=\", as in --events=false", args[0]))
}
