package holds

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/plans"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

type pauseOptions struct {
	change
	holdOptions
}

func newPauseCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &pauseOptions{change: change{Output: out, server: server}}
	cmd := &cobra.Command{
		Use:   "pause " + targetUse,
		Short: "Stop resizing pods until resumed",
		Long: `Stop resizing pods until resumed.

Neither running pods nor new pods are resized while they are paused. Pods that
were resized before keep their size, even if it makes them worse: reverts stop,
too. To undo resizes, use "resizectl restore". A pause survives restarts of the
server. It lasts until "resizectl resume" or, if you set --for, for that long. A
restore takes precedence over a pause: restored pods stay restored, and the pause
applies when the restore ends.`,
		Example: `  # Pause a namespace for two hours
  resizectl pause -n shop --for 2h --reason "load test"

  # Pause the pods of a Deployment, including new ones
  resizectl pause deployment/web -n shop

  # Stop resizing in the whole cluster
  resizectl pause -A`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: connect.CompleteObjects(server),
		RunE:              command.Steps(o.run, o.complete, o.validate, o.confirm(func() string { return "Stop resizing every pod in the cluster?" })),
	}
	o.addFlags(cmd, "what would be paused")
	o.addHoldFlags(cmd)
	return cmd
}

func (o *pauseOptions) run(ctx context.Context) error {
	return o.server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		response, err := c.Pause(ctx, &workloadresizerv1.PauseRequest{
			Scope: o.scope(), Reason: o.reason, Ttl: o.ttlMessage(), ValidateOnly: o.dryRun.On(),
		})
		if err != nil {
			return err
		}
		if err := printHold(&o.Output, response.GetHold(), o.did("is paused", "would be paused")); err != nil {
			return err
		}
		overruled := ""
		if over := response.GetOverruledBy(); over != nil {
			overruled = fmt.Sprintf("the restore of %s takes precedence; the pause applies when it ends", print.Scope(over.GetScope()))
		}
		return print.Texts(o.ErrOut, overruled, warnEmpty(o.scope(), response.Pods))
	})
}

type resumeOptions struct {
	change
	kind   string
	nested bool
	reason string
}

// kinds are the values of --kind.
var kinds = map[string]workloadresizerv1.HoldKind{
	"":        workloadresizerv1.HoldKind_HOLD_KIND_UNSPECIFIED,
	"restore": workloadresizerv1.HoldKind_HOLD_KIND_RESTORE,
	"pause":   workloadresizerv1.HoldKind_HOLD_KIND_PAUSE,
	"breaker": workloadresizerv1.HoldKind_HOLD_KIND_BREAKER,
}

func newResumeCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &resumeOptions{change: change{Output: out, server: server}}
	cmd := &cobra.Command{
		Use:   "resume " + targetUse,
		Short: "Resume resizing pods that were restored or paused, or whose breaker opened",
		Long: `Resume resizing pods that were restored or paused, or whose breaker opened.

This ends the restore and the pause of exactly the scope that you name and resets
its breaker, or only one of these with --kind. Holds of scopes inside it stay in
effect unless you set --nested: the holds of workloads and pods in a namespace and,
with --all-namespaces, of all namespaces, workloads and pods. Holds of single pods of
a workload always stay in effect: resume these pods or their namespace. You cannot
resume a scope by itself if only a wider hold covers it.

A breaker opens by itself if too many resizes were reverted. Earlier reverts do
not open it again once it is reset.

--dry-run also shows how many pods would then be resized, and the change in their
requests; "resizectl plan --what-if-resumed" shows each of them.`,
		Example: `  # Resume a namespace, except for its pods that are paused by name
  resizectl resume -n shop

  # Resume the pods of a workload
  resizectl resume deploy/web -n shop

  # End only the restore of a namespace; a pause of it stays in effect
  resizectl resume -n shop --kind restore

  # Reset the breaker of a workload, after you have found out why its resizes hurt
  resizectl resume deploy/web -n shop --kind breaker

  # Show which holds would end if you resumed everything
  resizectl resume -A --nested --dry-run`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: connect.CompleteObjects(server),
		RunE:              command.Steps(o.run, o.complete, o.validate, o.confirm(o.question)),
	}
	o.addFlags(cmd, "what would end")
	cmd.Flags().StringVar(&o.reason, "reason", "", "reason, written to the server's log")
	cmd.Flags().StringVar(&o.kind, "kind", "", "end only holds of this kind: restore, pause or breaker")
	cmd.Flags().BoolVar(&o.nested, "nested", false, "also end the holds of namespaces, workloads and pods inside the scope")
	command.CompleteFlag(cmd, "kind", cobra.FixedCompletions([]string{"restore", "pause", "breaker"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (o *resumeOptions) validate(cmd *cobra.Command, _ []string) error {
	if _, ok := kinds[o.kind]; !ok || cmd.Flags().Changed("kind") && o.kind == "" {
		return command.UsageErrorf(cmd, "--kind must be restore, pause or breaker, not %q", o.kind)
	}
	return nil
}

// question asks for confirmation of --all-namespaces.
func (o *resumeOptions) question() string {
	what := "the restore, the pause and the breaker of the whole cluster"
	if o.kind != "" {
		what = "the " + o.kind + " of the whole cluster"
	}
	if o.nested {
		what += ", and the holds of every namespace, workload and pod"
	}
	return "End " + what + ", and resume resizing pods?"
}

func (o *resumeOptions) run(ctx context.Context) error {
	return o.server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		response, err := c.Resume(ctx, &workloadresizerv1.ResumeRequest{
			Scope: o.scope(), Kind: kinds[o.kind], IncludeNested: o.nested, ValidateOnly: o.dryRun.On(),
			Reason: o.reason,
		})
		if err != nil {
			return err
		}
		if err := o.print(response); err != nil {
			return err
		}
		if err := o.printImpact(ctx, c, response); err != nil {
			return err
		}
		return print.Texts(o.ErrOut, o.remarks(response)...)
	})
}

// printImpact prints what would happen to the pods of a dry run. Other holds may still cover some of
// them, and only the server knows which. So it prints nothing if a wider hold covers all of them, and
// says that it ignores the others.
func (o *resumeOptions) printImpact(ctx context.Context, c *client.Client, response *workloadresizerv1.ResumeResponse) error {
	if !o.dryRun.On() || o.Format.IsDocument() || len(response.GetReleased()) == 0 || response.GetStillHeldBy() != nil {
		return nil
	}
	stream := c.PreviewSelected(ctx, o.selected(), client.Assuming(&workloadresizerv1.WhatIf{WithoutHolds: true}))
	for _, err := range stream.All() {
		if err != nil {
			return err
		}
	}
	if err := print.Texts(o.Out, "then, without other holds and the freeze:"); err != nil {
		return err
	}
	return plans.PrintTotals(o.Out, o.Painter(), stream.Summary())
}

// remarks report what the user may not expect: holds that stay in effect, and that there was
// nothing to end.
func (o *resumeOptions) remarks(response *workloadresizerv1.ResumeResponse) (texts []string) {
	if len(response.GetReleased()) == 0 {
		what := "restore, pause or open breaker"
		switch o.kind {
		case "":
		case "breaker":
			what = "open breaker"
		default:
			what = o.kind
		}
		texts = append(texts, "nothing to resume: there is no "+what+" of "+print.Scope(o.scope()))
	}
	switch n := response.GetNested(); n {
	case 0:
	case 1:
		texts = append(texts, "1 hold inside this scope stays in effect; --nested ends it, too")
	default:
		texts = append(texts, fmt.Sprintf("%d holds inside this scope stay in effect; --nested ends them, too", n))
	}
	if wider := response.GetStillHeldBy(); wider != nil {
		texts = append(texts, fmt.Sprintf("these pods are still not resized: the %s of %s stays in effect", print.HoldKind(wider), print.Scope(wider.GetScope())))
	}
	return append(texts, warnEmpty(o.scope(), response.Pods))
}

func (o *resumeOptions) print(response *workloadresizerv1.ResumeResponse) error {
	switch {
	case o.Format.IsDocument():
		return o.Document(response)
	case o.Format.IsListing():
		return print.Listing(&o.Output, holdName, response.GetReleased()...)
	}
	return print.Texts(o.Out, print.Each(response.GetReleased(), func(hold *workloadresizerv1.Hold) string {
		return fmt.Sprintf("%s of %s %s", print.HoldKind(hold), print.Scope(hold.GetScope()), o.did("has ended", "would end"))
	})...)
}
