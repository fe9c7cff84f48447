package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
)

// rejectUnknown makes the commands help and completion, which cobra adds, reject names that do not exist,
// as all other commands do. cobra would print other help, and succeed.
func rejectUnknown(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "completion":
			command.Group(cmd)
			for _, shell := range cmd.Commands() {
				shell.Args = command.Args(cobra.NoArgs)
			}
		case "help":
			cmd.Args = func(_ *cobra.Command, args []string) error { return exists(root, args) }
		}
	}
}

// exists returns an error if there is no such command.
func exists(root *cobra.Command, args []string) error {
	found, rest, err := root.Find(args)
	if err != nil || len(rest) == 0 {
		return err
	}
	if found.HasSubCommands() {
		return found.Args(found, rest)
	}
	return command.UsageErrorf(found, "%s has no command %q", found.CommandPath(), rest[0])
}

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
