package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

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
