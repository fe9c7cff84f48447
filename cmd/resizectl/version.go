package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/internal/version"
)

// build is what this program was built from; tests set it.
var build = version.Read()

// versionTimeout is short, because it is not an error if no server answers.
const versionTimeout = 2 * time.Second

type versionOptions struct {
	print.Output
	server *connect.Connection
	client bool
}

// versions is the output of the command as JSON.
type versions struct {
	ClientVersion clientVersion `json:"clientVersion"`
	// ServerVersion is empty if no server was called, or none answered.
	ServerVersion string `json:"serverVersion,omitempty"`
}

type clientVersion struct {
	Version string `json:"version"`
	// Commit is empty if it is unknown.
	Commit    string `json:"commit,omitempty"`
	GoVersion string `json:"goVersion"`
	Platform  string `json:"platform"`
}

func newVersionCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &versionOptions{Output: out, server: server}
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
		RunE: command.Steps(o.run),
	}
	command.AddTextOutputFlag(cmd, &o.Format)
	cmd.Flags().BoolVar(&o.client, "client", false, "print only the version of resizectl, and call no server")
	return cmd
}

func (o *versionOptions) run(ctx context.Context) error {
	found := versions{ClientVersion: clientVersion{build.Version, build.Commit, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}}
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
	if !o.Format.IsDocument() {
		_, err := fmt.Fprintf(o.Out, "resizectl %s %s %s\n", build, found.ClientVersion.GoVersion, found.ClientVersion.Platform)
		if err == nil && found.ServerVersion != "" {
			_, err = fmt.Fprintf(o.Out, "server    %s\n", found.ServerVersion)
		}
		return err
	}
	return o.Value(found)
}
