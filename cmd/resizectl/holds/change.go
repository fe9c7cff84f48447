package holds

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// change has the parts that pause, restore and resume share.
type change struct {
	print.Output
	target
	command.Confirmation
	server *connect.Connection
	dryRun command.DryRun
}

// addFlags adds the flags of every change; shows is what a dry run shows.
func (c *change) addFlags(cmd *cobra.Command, shows string) {
	c.addTargetFlags(cmd)
	c.AddYesFlag(cmd, "--all-namespaces")
	c.dryRun.AddFlag(cmd, shows)
	command.AddObjectFlags(cmd, &c.Output)
}

// did returns what the command has done, or would do.
func (c *change) did(done, would string) string {
	if c.dryRun.On() {
		return would
	}
	return done
}

// confirm asks for confirmation to change every pod in the cluster.
func (c *change) confirm(question func() string) command.Step {
	return func(cmd *cobra.Command, _ []string) error {
		if !c.allNamespaces || c.dryRun.On() {
			return nil
		}
		return c.Ask(cmd, c.IOStreams, question())
	}
}

// targetUse is how a target is written.
const targetUse = "[NAMESPACE/]POD | [NAMESPACE/]TYPE/NAME | -n NAMESPACE | -A"

// target selects the pods that a command changes: a pod, or the pods of a workload, a
// namespace or the cluster. Unlike the selection of plan, it has no default.
type target struct {
	command.Object
	namespace     string
	allNamespaces bool
}

func (t *target) addTargetFlags(cmd *cobra.Command) {
	connect.AddNamespaceFlag(cmd, &t.namespace, "namespace of POD or TYPE/NAME; without these, every pod in the namespace")
	cmd.Flags().BoolVarP(&t.allNamespaces, "all-namespaces", "A", false, "every pod in the cluster")
}

// complete parses the arguments. It rejects in particular arguments that name no pods or two
// scopes.
func (t *target) complete(cmd *cobra.Command, args []string) error {
	named := cmd.Flags().Changed("namespace")
	if err := command.CheckNamespace(cmd, t.namespace, "use --all-namespaces for every namespace"); err != nil {
		return err
	}
	switch {
	case t.allNamespaces && (len(args) > 0 || named):
		return command.UsageErrorf(cmd, "--all-namespaces selects every pod: use it alone, or set --namespace or name a pod instead")
	case len(args) == 0 && !named && !t.allNamespaces:
		return command.UsageErrorf(cmd, "name a pod, a workload (TYPE/NAME), a namespace (--namespace) or every pod (--all-namespaces)")
	}
	var err error
	if t.Object, err = command.ParseObject(cmd, args); err != nil {
		return err
	}
	t.namespace, err = t.In(cmd, t.namespace)
	return err
}

// scope returns the target in the API.
func (t *target) scope() *workloadresizerv1.HoldScope {
	switch {
	case t.allNamespaces:
		return &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_AllNamespaces{AllNamespaces: &workloadresizerv1.AllNamespaces{}}}
	case t.Pod() != "":
		return &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_Pod{
			Pod: &workloadresizerv1.NamespacedPod{Namespace: t.namespace, Name: t.Pod()},
		}}
	case t.Workload() != nil:
		return &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_Workload{
			Workload: &workloadresizerv1.NamespacedWorkload{Namespace: t.namespace, Kind: t.Kind, Name: t.Name},
		}}
	}
	return &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_Namespace{Namespace: t.namespace}}
}

// selected returns the request for the plans of the pods of the target.
func (t *target) selected() *workloadresizerv1.PreviewPlansRequest {
	if t.allNamespaces {
		return &workloadresizerv1.PreviewPlansRequest{}
	}
	return &workloadresizerv1.PreviewPlansRequest{Namespace: t.namespace, Pod: t.Pod(), Workload: t.Workload()}
}

// holdOptions are the options of a hold, for restore and pause.
type holdOptions struct {
	reason string
	ttl    time.Duration
}

func (o *holdOptions) addHoldFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.reason, "reason", "", "reason, shown in the list of holds")
	command.DurationVar(cmd.Flags(), &o.ttl, "for", 0, "duration, such as 2h or 2d (default: until resizectl resume)")
}

func (o *holdOptions) validate(cmd *cobra.Command, _ []string) error {
	if cmd.Flags().Changed("for") && o.ttl < time.Second {
		return command.UsageErrorf(cmd, "--for %s is less than a second; omit it for no end", o.ttl)
	}
	return nil
}

// ttlMessage returns --for, rounded up to the whole seconds that holds are stored with, so
// that none ends early.
func (o *holdOptions) ttlMessage() *durationpb.Duration {
	if o.ttl == 0 {
		return nil
	}
	return durationpb.New((o.ttl + time.Second - 1).Truncate(time.Second))
}

// warnEmpty warns that a scope has no pods now, which may be due to a typo; empty if it has some. pods is nil if
// the number is not known.
func warnEmpty(scope *workloadresizerv1.HoldScope, pods *int64) string {
	says := print.Scope(scope) + " has no pods"
	switch {
	case pods == nil || *pods > 0:
		return ""
	case scope.GetPod() != nil:
		says = print.Scope(scope) + " does not exist"
	case scope.GetAllNamespaces() != nil:
		says = "the cluster has no pods"
	}
	return "warning: " + says + " now"
}

// printHold prints what was stored: as a line with did, or as a document for programs.
func printHold(o *print.Output, hold *workloadresizerv1.Hold, did string) error {
	switch {
	case o.Format.IsDocument():
		return o.Document(hold)
	case o.Format.IsListing():
		return print.Listing(o, holdName, hold)
	}
	end := ""
	if hold.GetExpireTime() != nil {
		end = " until " + print.Timestamp(hold.GetExpireTime())
	}
	return print.Texts(o.Out, fmt.Sprintf("%s %s%s", print.Scope(hold.GetScope()), did, end))
}
