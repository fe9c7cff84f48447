package main

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// version is set when a release is linked.
var version = ""

// versionTimeout is short, because it is not an error if no server answers.
const versionTimeout = 2 * time.Second

type versionOptions struct {
	genericiooptions.IOStreams
	server *connect.Connection
	output string
	client bool
}

// versions is the output of the command as JSON.
type versions struct {
	ClientVersion clientVersion `json:"clientVersion"`
	// ServerVersion is empty if no server was called, or none answered.
	ServerVersion string `json:"serverVersion,omitempty"`
}

type clientVersion struct {
	Version   string `json:"version"`
	GoVersion string `json:"goVersion"`
	Platform  string `json:"platform"`
}

func newVersionCommand(streams genericiooptions.IOStreams, server *connect.Connection) *cobra.Command {
	o := &versionOptions{IOStreams: streams, server: server}
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of resizectl and of the server",
		Long: `Print the versions of resizectl and of the server.

The version of the server is omitted with --client, or if the server does not
answer within two seconds or, if you set --timeout, within that time. That is not
an error.`,
		Example: `  # Print the version of resizectl
  resizectl version --client

  # Print the version of the server in a cluster
  resizectl version --context production -o json | jq -r .serverVersion`,
		Args: command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.output != "" && o.output != string(print.FormatJSON) && o.output != string(print.FormatYAML) {
				return command.UsageErrorf(cmd, "--output must be json or yaml, not %q", o.output)
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "output format, json or yaml (default: text)")
	command.CompleteFlag(cmd, "output", cobra.FixedCompletions([]string{string(print.FormatJSON), string(print.FormatYAML)}, cobra.ShellCompDirectiveNoFileComp))
	cmd.Flags().BoolVar(&o.client, "client", false, "print only the version of resizectl, and call no server")
	return cmd
}

func (o *versionOptions) run(ctx context.Context) error {
	found := versions{ClientVersion: clientVersion{versionText(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}}
	if !o.client {
		o.server.LimitTo(versionTimeout)
		// Other commands explain why a server does not answer.
		_ = o.server.Call(ctx, func(ctx context.Context, c *client.Client) error {
			status, err := c.Status(ctx)
			found.ServerVersion = print.OneLine(status.GetVersion())
			return err
		})
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return o.print(found)
}

func (o *versionOptions) print(found versions) error {
	if o.output == "" {
		_, err := fmt.Fprintf(o.Out, "resizectl %s (%s %s)\n", found.ClientVersion.Version, found.ClientVersion.GoVersion, found.ClientVersion.Platform)
		if err == nil && found.ServerVersion != "" {
			_, err = fmt.Fprintf(o.Out, "server    %s\n", found.ServerVersion)
		}
		return err
	}
	out, err := json.MarshalIndent(found, "", "  ")
	if err == nil && o.output == string(print.FormatYAML) {
		out, err = yaml.JSONToYAML(out)
	} else {
		out = append(out, '\n')
	}
	if err != nil {
		return fmt.Errorf("write the versions: %w", err)
	}
	_, err = o.Out.Write(out)
	return err
}

// versionText returns the version that a release was linked with, or else the module version
// that the Go toolchain stamped into the binary. For a build in a git checkout, that version
// comes from its tags.
func versionText() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
