package main

import (
	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
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
