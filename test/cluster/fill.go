package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/fill"
	"github.com/workload-resizer/workload-resizer/test/cluster/internal/state"
)

func newFillCommand() *cobra.Command {
	var dir string
	var options fill.Options
	command := &cobra.Command{
		Use:   "fill --dir DIR --namespace NAMESPACE --copies N --template NAMESPACE/NAME",
		Short: "Create or remove copies of pods to reach a given number",
		Long: `Create or remove copies of pods until the namespace holds the given number.

The copies are written directly to etcd. The API server sees them like any other
pods. Nothing starts them: each copy has the status of the pod that it copies.`,
		Example: `  testcluster fill --dir /tmp/c --namespace many --copies 20000 --template default/web
  testcluster fill --dir /tmp/c --namespace many --copies 0`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if options.Copies < 0 {
				return errors.New("--copies: must not be negative")
			}
			if options.Copies > 0 && len(options.Templates) == 0 {
				return errors.New("--template: name the pod to copy, as NAMESPACE/NAME")
			}
			cluster, err := state.Load(dir)
			if err != nil {
				return err
			}
			ctx, stop := interruptible()
			defer stop()
			return fill.Run(ctx, cluster, options)
		},
	}
	addDirFlag(command, &dir)
	flags := command.Flags()
	flags.StringVar(&options.Namespace, "namespace", "", "namespace of the copies, which must not hold other pods")
	flags.IntVar(&options.Copies, "copies", 0, "number of copies")
	flags.StringSliceVar(&options.Templates, "template", nil, "pods to copy, as NAMESPACE/NAME; workloads use them in turn")
	flags.IntVar(&options.Nodes, "nodes", 0, "number of nodes over which the copies of a pod are spread, with names that end in -0, -1, …; 0 keeps the pod's node")
	flags.IntVar(&options.PerWorkload, "per-workload", 0, "number of copies that share an owner of their own; 0 keeps the pod's owner")
	if err := command.MarkFlagRequired("namespace"); err != nil {
		panic(err)
	}
	return command
}
