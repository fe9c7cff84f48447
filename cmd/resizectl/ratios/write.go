package ratios

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// Answer is the server's answer to a write of overrides.
type Answer interface {
	proto.Message
	GetChange() *workloadresizerv1.OverrideChange
	GetImpact() *workloadresizerv1.Impact
}

// Write is a write of overrides that is previewed first.
type Write interface {
	// Read reads the current state. Send makes it a precondition, so that what was
	// shown is what is changed.
	Read(ctx context.Context, c *client.Client) error
	// Send requests the write or, with validateOnly, what it would change.
	Send(ctx context.Context, c *client.Client, validateOnly bool) (Answer, error)
	// Table shows the answer as old → new.
	Table(answer Answer) *metav1.Table
}

// WriteOptions are what the commands that change overrides have in common.
type WriteOptions struct {
	print.Output
	command.Confirmation
	Server *connect.Connection
	Reason string
	// AllowImplausible is what Send allows. It becomes true when the user is warned of node
	// types that would not be used.
	AllowImplausible bool
	// confirmed means that the user allows it with a flag.
	confirmed bool
	dryRun    command.DryRun
}

// AddFlags adds the flags to the command called name.
func (o *WriteOptions) AddFlags(cmd *cobra.Command, name string) {
	cmd.Flags().StringVar(&o.Reason, "reason", "", "reason, kept in the history")
	cmd.Flags().BoolVar(&o.confirmed, "allow-implausible", false, "make the change even if node types are then beyond maxSpeedRatio and not used")
	o.AddYesFlag(cmd, name)
	o.dryRun.AddFlag(cmd, "what would change")
	command.AddOutputFlag(cmd, &o.Format)
}

// RunE returns what runs the command: its steps, and then the write.
func (o *WriteOptions) RunE(w Write, steps ...command.Step) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return command.Steps(func(context.Context) error { return o.run(cmd, w) }, steps...)(cmd, args)
	}
}

// run shows what w would change, asks for confirmation, and makes the change. A dry run ends like "kubectl diff":
// ErrDifferences means that pods would change.
func (o *WriteOptions) run(cmd *cobra.Command, w Write) error {
	if !o.dryRun.On() {
		if err := o.MustBePossible(cmd, o.IOStreams); err != nil {
			return err
		}
	}
	// Each call has a timeout of its own, so that users have time to think.
	would, err := o.call(cmd.Context(), w, true)
	switch {
	case err != nil:
		return err
	case o.dryRun.On():
		if err := o.printTried(w, would); err != nil {
			return err
		}
		if would.GetImpact().GetTotal().GetPods() > 0 {
			return command.ErrDifferences
		}
		return nil
	case would.GetChange() == nil:
		return o.printDone(would)
	}
	shown := o.Output
	shown.Out = o.ErrOut
	if err := printWouldBe(&shown, w, would); err != nil {
		return err
	}
	if err := o.Ask(cmd, o.IOStreams, o.question()); err != nil {
		return err
	}
	did, err := o.call(cmd.Context(), w, false)
	if err != nil {
		return err
	}
	return o.printDone(did)
}

// printTried prints what a dry run has shown.
func (o *WriteOptions) printTried(w Write, would Answer) (err error) {
	if o.Format.IsDocument() {
		err = o.Document(would)
	} else {
		err = printWouldBe(&o.Output, w, would)
	}
	if err != nil {
		return err
	}
	return print.Texts(o.ErrOut, print.Hidden(would.GetImpact().GetIncomplete(), "affected pods"))
}

// call reads the current state only before a dry run: the real write must match the state
// that was shown.
func (o *WriteOptions) call(ctx context.Context, w Write, validateOnly bool) (answer Answer, err error) {
	err = o.Server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		if validateOnly {
			if err := w.Read(ctx, c); err != nil {
				return err
			}
		}
		answer, err = o.send(ctx, c, w, validateOnly)
		if status.Code(err) == codes.Aborted {
			return fmt.Errorf("another change came first, so nothing was changed: %s; %s", connect.MessageOf(err), connect.Hints["ETAG_MISMATCH"])
		}
		return err
	})
	return answer, err
}

// send sends a write. If the change would make ratios implausible, and the user allows that or
// is going to be asked, it warns of that and shows the change nevertheless.
func (o *WriteOptions) send(ctx context.Context, c *client.Client, w Write, validateOnly bool) (Answer, error) {
	answer, err := w.Send(ctx, c, validateOnly)
	asks := !o.dryRun.On() && !o.Given()
	if client.Reason(err) != "IMPLAUSIBLE_RATIO" || !validateOnly || !o.confirmed && !asks {
		return answer, err
	}
	if err := print.Texts(o.ErrOut, "warning: "+print.OneLine(connect.MessageOf(err))+"\n"); err != nil {
		return nil, err
	}
	o.AllowImplausible = true
	return w.Send(ctx, c, validateOnly)
}

func (o *WriteOptions) question() string {
	if o.AllowImplausible {
		return "Apply, although the pods on these node types keep their sizes?"
	}
	return "Apply?"
}

func printWouldBe(o *print.Output, w Write, would Answer) error {
	if err := o.Table(w.Table(would)); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(o.Out); err != nil {
		return err
	}
	return PrintImpact(o, would.GetImpact())
}

// printDone prints what was changed: one line per node type, or a document.
func (o *WriteOptions) printDone(did Answer) error {
	change := did.GetChange()
	if change == nil {
		if err := print.Texts(o.ErrOut, "nothing to change: the overrides are already as requested"); err != nil {
			return err
		}
	}
	if o.Format.IsDocument() {
		return o.Document(did)
	}
	return print.Texts(o.Out, print.Each(change.GetDeltas(), func(d *workloadresizerv1.OverrideDelta) string {
		return fmt.Sprintf("change %d: override of %s: %s", change.GetNumber(), print.OneLine(d.GetNodeType()), Shifted(overrideText(d.GetFrom()), overrideText(d.GetTo())))
	})...)
}

// group is what a row is about: all pods, or those on a node type or in a namespace.
type group struct {
	what string
	*workloadresizerv1.ImpactGroup
}

var impactColumns = []objects.Column[group]{
	objects.Cell("Impact On", func(g group) any { return g.what + print.OneLine(g.GetName()) }),
	objects.Count("Pods", group.GetPods),
	objects.Cell("CPU", func(g group) any { return print.FreedOrAdded(g.GetRequestDelta()["cpu"]) }),
	objects.Cell("Memory", func(g group) any { return print.FreedOrAdded(g.GetRequestDelta()["memory"]) }),
	objects.Cell("Vetoed", func(g group) any {
		if g.GetVetoed() == 0 {
			return "0"
		}
		return print.Cell{Text: fmt.Sprint(g.GetVetoed()), Style: print.Notable}
	}),
}

var byUsageColumn = objects.Count("By Usage", group.GetByUsage)

var vetoColumns = []objects.Column[*workloadresizerv1.VetoedPod]{
	objects.Text("Namespace", (*workloadresizerv1.VetoedPod).GetNamespace),
	objects.Text("Pod", (*workloadresizerv1.VetoedPod).GetPod),
	objects.Text("Node", (*workloadresizerv1.VetoedPod).GetNode),
	objects.Text("Vetoed By", (*workloadresizerv1.VetoedPod).GetCode),
	objects.Text("Message", (*workloadresizerv1.VetoedPod).GetMessage).Wide(),
}

// PrintImpact prints what different ratios would mean for the pods: how many of each group would
// change, and which of them would be vetoed.
func PrintImpact(o *print.Output, impact *workloadresizerv1.Impact) error {
	total := impact.GetTotal()
	if total.GetPods() == 0 && total.GetVetoed() == 0 {
		return print.Texts(o.Out, "no pod would get a different size")
	}
	groups, columns := []group{{"all pods", total}}, impactColumns
	for _, of := range impact.GetNodeTypes() {
		groups = append(groups, group{"node type ", of})
	}
	for _, of := range impact.GetNamespaces() {
		groups = append(groups, group{"namespace ", of})
	}
	if total.GetByUsage() > 0 {
		columns = append(slices.Clone(columns), byUsageColumn)
	}
	if err := o.Table(objects.Table(columns, groups...)); err != nil {
		return err
	}
	if impact.GetIncomplete() {
		if err := print.Texts(o.Out, "not shown: namespaces that you cannot see"); err != nil {
			return err
		}
	}
	if err := o.TableBelow(objects.Table(vetoColumns, impact.GetVetoed()...)); err != nil {
		return err
	}
	if more := total.GetVetoed() - int64(len(impact.GetVetoed())); more > 0 {
		return print.Texts(o.Out, fmt.Sprintf("not shown: %s that would be vetoed", print.CountOf(more, "more pod")))
	}
	return nil
}
