package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

const rootHelp = `resizectl shows what workload-resizer does with the pods of a cluster, and why.

Requests are written for one kind of machine, the baseline. On a node that is
faster or slower a pod needs less or more of it for the same work, so
workload-resizer resizes the requests of running pods, without a restart, by the
performance ratio of their node's type to the baseline.

  resizectl ratios list      shows these ratios, and where they come from
  resizectl plan             shows what they mean for a pod, a namespace or all
                             pods: what would be resized, to what, and if not,
                             why not
  resizectl restore          gives pods their original requests and limits back
  resizectl pause            leaves pods as they are
  resizectl resume           ends that
  resizectl holds            lists what is restored or paused
  resizectl config validate  checks a configuration before you apply it; it needs
                             no server

restore, pause and resume change something; the others only read.

It asks a workload-resizer server on this machine (--server). For a server that
runs in a cluster, forward its port first:

  ` + portForward

const rootExamples = `  # What the node types are worth
  resizectl ratios list

  # Why was this pod (not) resized?
  resizectl plan web-6d4cf56db6-x2x7p -n shop

  # What would be resized in the whole cluster?
  resizectl plan -A

  # Leave a namespace as it is for two hours
  resizectl pause -n shop --for 2h

  # Is this configuration right?
  resizectl config validate -f config.yaml`

// portForward is how the port of a server in a cluster comes to this machine.
const portForward = "kubectl -n workload-resizer-system port-forward POD 7443"

// run executes the command line and returns its exit code.
func run(ctx context.Context, streams genericiooptions.IOStreams, args []string) int {
	root := newRootCommand(streams)
	root.SetArgs(args)
	return report(ctx, streams.ErrOut, root.ExecuteContext(ctx))
}

func newRootCommand(streams genericiooptions.IOStreams) *cobra.Command {
	root := &cobra.Command{
		Use:     "resizectl",
		Short:   "Show what workload-resizer does with the pods of a cluster, and why",
		Long:    rootHelp,
		Example: rootExamples,
		// report prints errors, and a page of usage would hide them.
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usageErrorf(cmd, "%w", err) })

	var server connection
	server.addFlags(root.PersistentFlags())
	asGroup(root)
	root.AddCommand(
		newRatiosCommand(streams, &server),
		newPlanCommand(streams, &server),
		newConfigCommand(streams),
		newRestoreCommand(streams, &server),
		newPauseCommand(streams, &server),
		newResumeCommand(streams, &server),
		newHoldsCommand(streams, &server),
		newVersionCommand(streams),
	)
	return root
}

// asGroup makes cmd show its help if called alone, and refuse what is not one
// of its commands: cobra would print the help and call that a success.
func asGroup(cmd *cobra.Command) {
	cmd.SuggestionsMinimumDistance = 2
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		if similar := cmd.SuggestionsFor(args[0]); len(similar) > 0 {
			return usageErrorf(cmd, "unknown command %q: did you mean %s?", args[0], strings.Join(similar, " or "))
		}
		return usageErrorf(cmd, "unknown command %q", args[0])
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}

// positional makes what check refuses a usage error.
func positional(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageErrorf(cmd, "%w", err)
		}
		return nil
	}
}
