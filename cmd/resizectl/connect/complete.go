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

// ask asks a server for completions. If it does not answer in time, there are none, silently: an error would be
// printed into the line.
type ask func(context.Context, *client.Client) ([]cobra.Completion, error)

// CompleteFlag completes a flag.
func (c *Connection) CompleteFlag(ask ask) cobra.CompletionFunc {
	return noFiles(func(cmd *cobra.Command, _ []string, _ string) []cobra.Completion { return c.completions(cmd, ask) })
}

// CompleteFirst completes only the first argument.
func (c *Connection) CompleteFirst(ask ask) cobra.CompletionFunc {
	return first(func(cmd *cobra.Command, _ string) []cobra.Completion { return c.completions(cmd, ask) })
}

// InOrder completes in the order of the server.
func InOrder(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		found, directive := complete(cmd, args, typed)
		return found, directive | cobra.ShellCompDirectiveKeepOrder
	}
}

// noFiles completes nothing but what complete returns.
func noFiles(complete func(cmd *cobra.Command, args []string, typed string) []cobra.Completion) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return complete(cmd, args, typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// first completes only the first argument.
func first(complete func(cmd *cobra.Command, typed string) []cobra.Completion) cobra.CompletionFunc {
	return noFiles(func(cmd *cobra.Command, args []string, typed string) []cobra.Completion {
		if len(args) > 0 {
			return nil
		}
		return complete(cmd, typed)
	})
}

// CompleteNodeTypes completes up to atMost node types, or any number if atMost is 0.
func CompleteNodeTypes(server *Connection, atMost int) cobra.CompletionFunc {
	return noFiles(func(cmd *cobra.Command, args []string, _ string) []cobra.Completion {
		if atMost > 0 && len(args) >= atMost {
			return nil
		}
		return server.completions(cmd, nodeTypesBut(args))
	})
}

// CompleteNodeTypeFlag completes a flag that names a node type or, with list, several,
// separated by commas.
func CompleteNodeTypeFlag(server *Connection, list bool) cobra.CompletionFunc {
	return noFiles(func(cmd *cobra.Command, _ []string, typed string) []cobra.Completion {
		before := ""
		if n := strings.LastIndex(typed, ","); list && n >= 0 {
			before = typed[:n+1]
		}
		found := server.completions(cmd, nodeTypesBut(strings.Split(before, ",")))
		for i := range found {
			found[i] = before + found[i]
		}
		return found
	})
}

func nodeTypesBut(named []string) ask {
	return func(ctx context.Context, c *client.Client) (found []cobra.Completion, err error) {
		resp, err := c.ListRatios(ctx)
		for _, ratio := range resp.GetRatios() {
			if !slices.Contains(named, ratio.GetNodeType()) {
				found = append(found, cobra.CompletionWithDesc(print.OneLine(ratio.GetNodeType()),
					fmt.Sprintf("%s/%s from %s", print.Perf(ratio.GetCpuPerf()), print.Perf(ratio.GetMemoryPerf()), print.OneLine(ratio.GetProvenance().GetSource()))))
			}
		}
		return found, err
	}
}

func (c *Connection) completions(cmd *cobra.Command, ask ask) (found []cobra.Completion) {
	c.timeout, c.quiet = completionTimeout, true
	_ = c.Call(cmd.Context(), func(ctx context.Context, server *client.Client) (err error) {
		found, err = ask(ctx, server)
		return err
	})
	return found
}
