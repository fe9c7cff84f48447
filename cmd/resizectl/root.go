package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/backtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/benchmarks"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/check"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/configs"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/console"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/export"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/history"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/holds"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/nodes"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/plans"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/ratios"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/resizes"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/status"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/usage"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/workloads"
)

const rootHelp = `resizectl shows what workload-resizer does with the pods in a cluster, and why.

Requests are written for one kind of machine, the baseline. On a node that is
faster or slower, a pod needs less or more for the same work. workload-resizer
resizes the requests of running pods, without a restart, by the performance ratio
of their node's type to the baseline.

These commands make changes: restore, pause, resume, freeze, unfreeze, ratios set,
ratios delete, ratios rollback, benchmark import and benchmark accept. With --write,
export changes files. All other commands only read.

%s

A connection that leaves this machine is encrypted, unless you set --plaintext. The
server of a cluster sees you as the user of the kubeconfig; a server at an address
gets no credentials by default. You can also authenticate with a token
(--token-file, RESIZECTL_TOKEN), a client certificate (--client-certificate,
--client-key) or a ServiceAccount (--service-account-token,
RESIZECTL_SERVICE_ACCOUNT).`

// calls is the part of rootHelp about the server that is called, callsAsPlugin its text for the
// kubectl plugin.
const (
	calls = `By default, resizectl calls your own server on this machine, or the server at the
address in --server. If you set --kubeconfig, --context, --cluster, --user,
--service, --service-account-token or --token-audience, it calls the server of that
cluster instead, through the API server and as that user. As a kubectl plugin
(kubectl workload-resizer), it always calls the server of the cluster, unless you
set --server.`
	callsAsPlugin = `resizectl calls the server of the cluster that the kubeconfig selects, through the
API server and as its user (--kubeconfig, --context, --cluster, --user, --service),
or the server at the address in --server.`
)

const rootExamples = `  # Show whether the server is healthy
  resizectl status

  # Show the same for the server in a cluster
  resizectl status --context production

  # Check that a cluster can run the server, before you install it
  resizectl check --pre

  # Show how fast each node type is
  resizectl ratios list

  # Show what would be resized in the whole cluster
  resizectl plan -A

  # Explain why a pod was or was not resized
  resizectl explain web-6d4cf56db6-x2x7p -n shop

  # Show what would change if n4 were 1.08 times as fast as the baseline
  resizectl ratios set n4=1.08 --dry-run=server

  # Show what the workloads in the cluster request, use and need
  resizectl usage -A

  # List the workloads that request most memory
  resizectl workloads list -A --order-by "requested_memory desc" --limit 10

  # Show what happened in a namespace since yesterday
  resizectl history list -n shop --since 1d

  # Show the ratios that benchmarks and production suggest
  resizectl ratios suggest

  # Pause a namespace for two hours
  resizectl pause -n shop --for 2h

  # Check a configuration
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
	rejectUnknown(root)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if plugin && err != nil {
		err = pluginError{err}
	}
	return command.Report(ctx, streams.ErrOut, color.Painter(streams.ErrOut), err)
}

func newRootCommand(streams genericiooptions.IOStreams, color *print.ColorMode, plugin bool) *cobra.Command {
	root := command.NewRoot(streams)
	root.Short = "Show what workload-resizer does with the pods in a cluster, and why"
	root.Long, root.Example = fmt.Sprintf(rootHelp, calls), rootExamples
	if plugin {
		root.Long = fmt.Sprintf(rootHelp, callsAsPlugin)
	}

	server := connect.New(root, streams.ErrOut, build.Version, plugin)
	command.AddColorFlag(root, color)
	calledAs := "resizectl"
	if plugin {
		calledAs = pluginName
	}
	out := print.Output{
		IOStreams: streams, Color: color, Now: time.Now,
		Commands: func(text string) string { return server.Commands(text, calledAs) },
	}
	ratioCommand := ratios.NewCommand(out, server)
	ratioCommand.AddCommand(benchmarks.NewSuggestCommand(out, server))
	section(root, "ratios", "Ratios of node types:",
		ratioCommand,
		benchmarks.NewCommand(out, server),
		configs.NewCommand(streams))
	section(root, "plans", "Previews and explanations:", append(plans.NewCommands(out, server), usage.NewCommand(out, server), export.NewCommand(out, server), backtest.NewCommand(out))...)
	section(root, "resizes", "Resizes, and the state of the cluster and the server:",
		resizes.NewCommand(out, server),
		history.NewCommand(out, server),
		workloads.NewCommand(out, server),
		nodes.NewCommand(out, server),
		console.NewCommand(out, server),
		status.NewCommand(out, server),
		check.NewCommand(out, server))
	section(root, "holds", "Keep pods from being resized:", holds.NewCommands(out, server)...)
	section(root, "others", "Other commands:",
		newOptionsCommand(root, streams),
		newVersionCommand(out, server))
	root.Version = build.String()
	root.SetVersionTemplate("{{.Version}}\n")
	// cobra's own flag would also use -v.
	root.Flags().Bool("version", false, "print the version of resizectl")
	completeNamespaces(root, server)
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

// globalFlags is the part of cobra's usage template that repeats the flags of the root command
// in the help of every other command.
const globalFlags = `Global Flags:
{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}`

// newOptionsCommand returns the command that lists the flags of the root command. In the help of
// all other commands, a reference to that command replaces these flags, as in kubectl.
func newOptionsCommand(root *cobra.Command, streams genericiooptions.IOStreams) *cobra.Command {
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), globalFlags,
		`Use "{{.Root.CommandPath}} options" for the flags that apply to all commands.`, 1))
	return &cobra.Command{
		Use:   "options",
		Short: "List the flags that apply to all commands",
		Example: `  # List the flags that apply to all commands
  resizectl options`,
		Args: command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(streams.Out, "These flags apply to all commands:\n\n%s", cmd.InheritedFlags().FlagUsages())
			return err
		},
	}
}
