package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// dryRun is a value of --dry-run. It is none if empty.
type dryRun string

const (
	dryRunNone   dryRun = "none"
	dryRunServer dryRun = "server"
)

var dryRuns = []string{string(dryRunNone), string(dryRunServer)}

// on tells that nothing is to be changed.
func (d dryRun) on() bool { return d == dryRunServer }

// String implements pflag.Value.
func (d *dryRun) String() string { return string(*d) }

// Set implements pflag.Value. Some commands had a switch by this name once, so true
// and false are known, too.
func (d *dryRun) Set(s string) error {
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
func (d *dryRun) Type() string { return "dry-run" }

// addFlag adds the flag to a command that shows something with it, e.g. "what would
// change".
func (d *dryRun) addFlag(cmd *cobra.Command, shows string) {
	*d = dryRunNone
	flag := cmd.Flags().VarPF(d, "dry-run", "", "server shows "+shows+", and changes nothing; alone it means server")
	flag.NoOptDefVal = string(dryRunServer)
	completeFlag(cmd, "dry-run", cobra.FixedCompletions(dryRuns, cobra.ShellCompDirectiveNoFileComp))
}
