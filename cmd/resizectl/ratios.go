package main

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

func newRatiosCommand(streams genericiooptions.IOStreams, server *connection) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ratios",
		Short: "Show the performance ratios of the node types",
		Long: `Show the performance ratios of the node types.

A ratio says how fast one type of node is compared with the others. What a
request is multiplied by on a node type, its factor, is the baseline's
performance divided by the type's own.`,
	}
	asGroup(cmd)
	cmd.AddCommand(newRatiosListCommand(streams, server))
	return cmd
}
