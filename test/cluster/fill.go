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
		Short: "Have as many copies of pods as asked for, however many",
		Long: `Have as many copies of pods as asked for, however many.

They are written into etcd, not through the API server, which sees them all the
same. What is missing is added, and what is too much removed. Nothing starts
them: they have the status of the pods that they are copies of.`,
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
	flags.StringVar(&options.Namespace, "namespace", "", "namespace of the copies, in which nothing else may be")
	flags.IntVar(&options.Copies, "copies", 0, "how many copies there are to be")
	flags.StringSliceVar(&options.Templates, "template", nil, "pods to copy, as NAMESPACE/NAME, of which workloads take turns")
	flags.IntVar(&options.Nodes, "nodes", 0, "over how many nodes the copies of a pod are spread, whose names end in -0, -1, …; 0 leaves them on the pod's")
	flags.IntVar(&options.PerWorkload, "per-workload", 0, "how many copies have one owner, which no others have; 0 leaves them to the pod's")
	if err := command.MarkFlagRequired("namespace"); err != nil {
		panic(err)
	}
	return command
}
