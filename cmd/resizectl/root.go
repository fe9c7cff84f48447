package main

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/benchmarks"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/configs"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/holds"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/plans"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/ratios"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/resizes"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/status"
)

const rootHelp = `resizectl shows what workload-resizer does with the pods of a cluster, and why.

Requests are written for one kind of machine, the baseline. On a node that is
faster or slower a pod needs less or more of it for the same work, so
workload-resizer resizes the requests of running pods, without a restart, by the
performance ratio of their node's type to the baseline.

restore, pause, resume, ratios set, delete and rollback, and benchmark import and
accept change something; all other commands only read.

It asks the server on this machine, or at the address of --server. Any of
--kubeconfig, --context, --cluster, --user, --service, --service-account-token and
--token-audience has it ask the server of that cluster instead, through the API
server, and as that user. As a plugin of kubectl (kubectl workload_resizer) it
always asks that of the cluster, unless --server is given. A connection that leaves
this machine is encrypted. Who asks is told by the user of the kubeconfig, or by a
token (--token-file, RESIZECTL_TOKEN), a certificate (--client-certificate,
--client-key) or a ServiceAccount (--service-account-token,
RESIZECTL_SERVICE_ACCOUNT).`

const rootExamples = `  # Does the server do well?
  resizectl status

  # The same of the server in a cluster
  resizectl status --context production

  # What are the node types worth?
  resizectl ratios list

  # What would be resized in the whole cluster?
  resizectl plan -A

  # Why was this pod (not) resized?
  resizectl explain web-6d4cf56db6-x2x7p -n shop

  # What would be if n4 were measured as 1.08 times as fast as the baseline?
  resizectl ratios set n4=1.08 --dry-run=server

  # What would benchmarks change about the ratios?
  resizectl benchmark suggest

  # Leave a namespace as it is for two hours
  resizectl pause -n shop --for 2h

  # Is this configuration right?
  resizectl config validate -f config.yaml`

// run executes the command line under the name that the program was called by, and
// returns its exit code.
func run(ctx context.Context, program string, streams genericiooptions.IOStreams, args []string) int {
	color := print.ColorAuto
	plugin := isPlugin(program)
	root := newRootCommand(streams, &color, plugin)
	if plugin {
		asPlugin(root)
	}
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if plugin && err != nil {
		err = pluginError{err}
	}
	return command.Report(ctx, streams.ErrOut, color.Painter(streams.ErrOut), err)
}

func newRootCommand(streams genericiooptions.IOStreams, color *print.ColorMode, plugin bool) *cobra.Command {
	root := command.NewRoot(streams)
	root.Short = "Show what workload-resizer does with the pods of a cluster, and why"
	root.Long, root.Example = rootHelp, rootExamples

	server := connect.New(root.PersistentFlags(), versionText(), plugin)
	command.AddColorFlag(root, color)
	out := print.Output{IOStreams: streams, Color: color}
	section(root, "ratios", "Ratios of node types:",
		ratios.NewCommand(out, server),
		benchmarks.NewCommand(out, server),
		configs.NewCommand(streams))
	section(root, "plans", "What would be done, and why:", plans.NewCommands(out, server)...)
	section(root, "resizes", "What was done, and how the server does:",
		resizes.NewCommand(out, server),
		status.NewCommand(out, server))
	section(root, "holds", "Keep pods from being resized:", holds.NewCommands(out, server)...)
	section(root, "others", "Others:",
		newVersionCommand(streams, server))
	root.Version = versionText()
	root.SetVersionTemplate("{{.Version}}\n")
	// That of cobra would take -v, too.
	root.Flags().Bool("version", false, "print the version of resizectl")
	completeNoFiles(root)
	root.SetHelpCommandGroupID("others")
	root.SetCompletionCommandGroupID("others")
	return root
}

// section adds commands that the help lists together under a title.
func section(root *cobra.Command, id, title string, cmds ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: id, Title: title})
	for _, cmd := range cmds {
		cmd.GroupID = id
	}
	root.AddCommand(cmds...)
}
