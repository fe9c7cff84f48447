package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
)

// takeFiles are the flags whose value is a file. A shell completes the names of files by
// default.
var takeFiles = []string{"filename", "config", "from", "overlay", "kubeconfig", "certificate-authority", "client-certificate", "client-key", "token-file"}

// completeNamespaces completes the namespaces of all commands.
func completeNamespaces(cmd *cobra.Command, server *connect.Connection) {
	if cmd.Flags().Lookup("namespace") != nil {
		command.CompleteFlag(cmd, "namespace", connect.CompleteNamespaces(server))
	}
	for _, sub := range cmd.Commands() {
		completeNamespaces(sub, server)
	}
}

// completeNoFiles turns off completion for all other flags and arguments of cmd and its
// subcommands, unless they have a completion of their own.
func completeNoFiles(cmd *cobra.Command) {
	if cmd.ValidArgsFunction == nil && cmd.Runnable() {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	for _, flags := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()} {
		flags.VisitAll(func(flag *pflag.Flag) {
			if _, said := cmd.GetFlagCompletionFunc(flag.Name); !said && !slices.Contains(takeFiles, flag.Name) {
				command.CompleteFlag(cmd, flag.Name, cobra.NoFileCompletions)
			}
		})
	}
	for _, sub := range cmd.Commands() {
		completeNoFiles(sub)
	}
}
