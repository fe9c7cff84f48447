package plan

import (
	"slices"

	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// DefaultOwnerKinds are the kinds of controllers whose pods are resized.
var DefaultOwnerKinds = []string{"ReplicaSet", "StatefulSet", "DaemonSet", "Job"}

// Planner plans pods. It is pure: the same snapshot gives the same plan.
type Planner struct {
	// OwnerKinds name the kinds of controllers whose pods are resized, as safety.Names reads them.
	OwnerKinds []string
	// NodeTypes determines the type of a node.
	NodeTypes nodetype.Resolver
	// KeepMemoryLimits means that the API server does not allow a memory limit to shrink
	// without a restart (Kubernetes 1.33).
	KeepMemoryLimits bool
	// Sidecars means that restartable init containers are resized too.
	Sidecars bool
	// External selects how to handle sizes that another actor set.
	External External
}

// stage is a part of planning: a function from a draft, which it does not change, and the snapshot to a verdict.
type stage struct {
	// name is what Derived.Stage and the documentation call it, and does says what it does.
	name, does string
	// in are the states of drafts that it judges.
	in state
	// reasons are the reasons that it may give, in the order of its checks.
	reasons []contract.Reason
	judge   func(*Planner, *draft, *Snapshot) *verdict
}

// Check is what a stage checks, for the documentation.
type Check struct {
	Stage, Does string
	Reasons     []contract.Reason
}

// Checks returns what the stages check that size a pod, and those that restore one, in their order.
func Checks() (sizing, restoring []Check) {
	of := func(stages []stage) (all []Check) {
		for i := range stages {
			all = append(all, Check{stages[i].name, stages[i].does, stages[i].reasons})
		}
		return all
	}
	return of(sizingStages), of(restoringStages)
}

// sizingStages are the stages that size a pod, in their order.
var sizingStages = []stage{
	{
		"schedulable", "A pod that no node has room for gets the requests that its author wrote, if it got larger ones at its creation.", open,
		[]contract.Reason{contract.NotScheduled}, (*Planner).schedulable,
	},
	{
		"scope", "Only pods that may be resized at all are planned.", open,
		safety.ScopeReasons(), (*Planner).scope,
	},
	{
		"ratio", "The pod's node has a type, and the type has a ratio.", open,
		[]contract.Reason{contract.NodeNotFound, contract.NodeTypeUnlabelled, contract.UnknownNodeType}, (*Planner).ratio,
	},
	{
		"originals", "The record of the originals, and the rank for evictions, are checked.", open,
		[]contract.Reason{contract.AnnotationIgnored}, (*Planner).originals,
	},
	{
		"scale", "Each need is scaled for the node, within bounds.", open,
		nil, (*Planner).scale,
	},
	{
		"plausible", "The ratio is plausible.", open,
		[]contract.Reason{contract.ImplausibleRatio}, (*Planner).plausible,
	},
	{
		stageKeep, "Sizes that others set, and sizes without a known original, are kept, adopted or overridden.", open,
		[]contract.Reason{contract.ActiveVPA, contract.ExternallyResized, contract.InvalidAnnotation}, (*Planner).keepOthers,
	},
	{
		stageSettle, "Sizes that are near enough to what usage shows, or are new, stay, as do those from usage that pods get only when they are created.", open,
		nil, (*Planner).settle,
	},
	{
		"boost", "Cpu of containers that start is boosted, if so configured.", open | held,
		[]contract.Reason{contract.StartupBoost, contract.RestartRequired}, (*Planner).boost,
	},
	{
		"fit", "What cannot change without a restart stays.", changing,
		[]contract.Reason{contract.RestartRequired, contract.MemoryLimitKept}, (*Planner).fit,
	},
	{
		"revert", "Resources whose resize made the pod worse get their former size, and keep it.", open | held,
		slices.Concat([]contract.Reason{contract.Reverted, contract.RevertBlocked}, safety.ChangeReasons), (*Planner).revert,
	},
	{
		"await", "A pod that became unready after a resize is judged first.", changing,
		[]contract.Reason{contract.AwaitingReadiness}, (*Planner).await,
	},
	{
		"step", "Sizes are lowered in steps, if so configured.", changing,
		[]contract.Reason{contract.WaitingForProof, contract.Reverted}, (*Planner).step,
	},
	{
		"prove", "Smaller sizes of running pods are tried on a few pods first.", changing,
		[]contract.Reason{contract.WaitingForProof, contract.CanaryReverted, contract.DisruptionBudget}, (*Planner).prove,
	},
	{
		"room", "The node, the namespace and earlier attempts allow the sizes, or a part of them.", changing,
		slices.Concat([]contract.Reason{contract.ResizeError, contract.ResizeInProgress, contract.ResizeDeferred}, safety.ChangeReasons), (*Planner).room,
	},
	{
		"breaker", "No breaker is open for the pod.", changing,
		[]contract.Reason{contract.Degraded}, (*Planner).breaker,
	},
	{
		"schedule", "Pods are resized at this time.", changing | stays,
		[]contract.Reason{contract.OutsideSchedule}, (*Planner).schedule,
	},
	{
		"refused", "A size that the node refuses is reverted, if the pod keeps its sizes.", aligned | stays,
		[]contract.Reason{contract.ResizeInfeasible, contract.ResizeError}, (*Planner).revertRefused,
	},
	{
		"align", "A pod without anything to change is aligned, or says what its node does.", aligned,
		[]contract.Reason{contract.ResizeInfeasible, contract.ResizeError, contract.ResizeDeferred, contract.ResizeInProgress, contract.AlreadyAligned, contract.BoundsClamped, contract.DemandExceedsNodes, contract.NotMeasured, contract.HPAUtilization, contract.StartupBoost}, (*Planner).align,
	},
	{
		"resize", "All else is resized.", changing,
		[]contract.Reason{contract.BoundsClamped, contract.DemandExceedsNodes, contract.HPAUtilization, contract.StartupBoost}, (*Planner).resize,
	},
	{
		"blocked", "A revert without room comes first, unless the pod gets a size that fits and is no smaller.", anyState,
		[]contract.Reason{contract.RevertBlocked}, (*Planner).settleBlocked,
	},
	{
		"retry", "A plan that has just failed is not tried again yet.", anyState,
		failures, (*Planner).heed,
	},
}

// restoringStages are the stages that restore a pod, in their order.
var restoringStages = []stage{
	{
		"restorable", "The pod lives, has anything to restore, and the cluster is not frozen.", open,
		[]contract.Reason{contract.Terminating, contract.Finished, contract.Restored, contract.Frozen}, (*Planner).restorable,
	},
	{
		"originals", "Each resource gets its original.", open,
		[]contract.Reason{contract.ExternallyResized, contract.InvalidAnnotation}, (*Planner).restoreOriginals,
	},
	{
		"fit", "What cannot change without a restart stays.", changing,
		[]contract.Reason{contract.RestartRequired, contract.MemoryLimitKept}, (*Planner).fit,
	},
	{
		"await limits", "The record stays until the node has lowered memory limits.", open,
		[]contract.Reason{contract.ResizeInProgress, contract.ResizeError}, (*Planner).awaitLimits,
	},
	{
		"restore", "The node and the namespace allow the originals, or a part of them.", open,
		slices.Concat([]contract.Reason{contract.Restored}, withoutAnswers(safety.ChangeReasons)), (*Planner).finishRestore,
	},
	{
		"retry", "A plan that has just failed is not tried again yet.", anyState,
		failures, (*Planner).heed,
	},
}

// failures are what the last writes of a plan may have met.
var failures = slices.Concat([]contract.Reason{contract.ResizeFailed, contract.RevertBlocked, contract.ResizeUnsupported}, safety.ChangeReasons)

// withoutAnswers leaves out what nodes have answered before: a restore that a user requested is tried anyway.
func withoutAnswers(reasons []contract.Reason) []contract.Reason {
	return slices.DeleteFunc(slices.Clone(reasons), func(r contract.Reason) bool { return r == contract.ResizeInfeasible })
}

// stageKeep is the stage that handles the sizes of other actors, and stageSettle the one that keeps sizes near what usage
// shows.
const (
	stageKeep   = "keep"
	stageSettle = "settle"
)

// Plan plans one pod.
func (p *Planner) Plan(s *Snapshot) *Plan {
	d, stages := p.begin(s), sizingStages
	if s.Restore {
		d.Kind, d.Emergency, stages = Restore, s.Emergency, restoringStages
	}
	for i := range stages {
		if of := &stages[i]; d.state&of.in != 0 {
			if v := of.judge(p, d, s); v != nil {
				d.apply(of.name, v)
			}
		}
	}
	return d.done()
}
