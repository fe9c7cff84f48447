package connect

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// completionTimeout is short: the user waits for it in the middle of a command line.
const completionTimeout = 2 * time.Second

// CompleteNodeTypes completes up to atMost node types, or any number if atMost is 0. If no
// server answers, it completes nothing, silently: an error would be printed into the line.
func CompleteNodeTypes(server *Connection, atMost int) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if atMost > 0 && len(args) >= atMost {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return nodeTypesBut(cmd, server, args), cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteNodeTypeFlag completes a flag that names a node type or, with list, several,
// separated by commas.
func CompleteNodeTypeFlag(server *Connection, list bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		before := ""
		if n := strings.LastIndex(typed, ","); list && n >= 0 {
			before = typed[:n+1]
		}
		found := nodeTypesBut(cmd, server, strings.Split(before, ","))
		for i := range found {
			found[i] = before + found[i]
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

func nodeTypesBut(cmd *cobra.Command, server *Connection, named []string) []cobra.Completion {
	return Completions(cmd, server, func(ctx context.Context, c *client.Client) (found []cobra.Completion, err error) {
		resp, err := c.ListRatios(ctx)
		for _, ratio := range resp.GetRatios() {
			if !slices.Contains(named, ratio.GetNodeType()) {
				found = append(found, cobra.CompletionWithDesc(print.OneLine(ratio.GetNodeType()),
					fmt.Sprintf("%s/%s from %s", print.Perf(ratio.GetCpuPerf()), print.Perf(ratio.GetMemoryPerf()), print.OneLine(ratio.GetProvenance().GetSource()))))
			}
		}
		return found, err
	})
}

// Completions returns completions from a server; none if it does not answer in time.
func Completions(cmd *cobra.Command, server *Connection, ask func(context.Context, *client.Client) ([]cobra.Completion, error)) (found []cobra.Completion) {
	server.timeout, server.quiet = completionTimeout, true
	_ = server.Call(cmd.Context(), func(ctx context.Context, c *client.Client) (err error) {
		found, err = ask(ctx, c)
		return err
	})
	return found
}
