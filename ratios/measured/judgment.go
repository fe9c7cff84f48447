package measured

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"time"

	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/ratios/pace"
)

// Ratios provides the current ratios of all sources. A ratios.Store implements it.
type Ratios interface {
	// Table returns the current table; nil while there is none.
	Table() *ratios.Table
	// LookupBelow returns the ratio that a node type would have if the source and measured ones of
	// higher precedence were empty.
	LookupBelow(source, nodeType string) (ratios.Ratio, bool)
}

// ErrNoRatios is why nothing is judged while there is no table.
var ErrNoRatios = errors.New("the ratios of the other sources are not read yet")

// Target is what was measured of one node type, as far as ratios follow it.
type Target struct {
	// Ratio is the ratio to the baseline; 0 if there is nothing to follow.
	Ratio float64
	// Low and High are the ends of its confidence interval; 0 if it is not known.
	Low, High float64
	// HeldBack means that it is not certain: the published ratio does not change.
	HeldBack bool
	// Why explains to users what it was computed from.
	Why string
}

// Judgment judges what a source has published, by what it has measured since.
type Judgment struct {
	// Source is the name of the source, and Baseline the node type that its ratios are relative to.
	Source, Baseline string
	Ratios           Ratios
	Pace             pace.Settings
	// Targets are, by node type, those that the source may publish. Other node types return to the other sources.
	Targets map[string]Target
}

// Progress is how the ratio of a node type follows what is measured.
type Progress struct {
	pace.State
	// Target is the ratio to the baseline that the ratio moves toward;
	// State.Ratio if it does not move.
	Target float64
	// Next is when it is judged next.
	Next time.Time
}

// Move returns the published state after a judgment, and whether it differs. judgedBefore is when node types were judged
// last that are no longer published.
func (j *Judgment) Move(ctx context.Context, now Published, judgedBefore func(nodeType string) time.Time, at time.Time) (Published, bool) {
	next := Published{NodeTypes: map[string]Entry{}}
	changed := false
	for name := range j.names(now) {
		before, ok := now.NodeTypes[name]
		// A ratio that has ended starts again only in a window that was not yet judged for it.
		if !ok && !j.Pace.Due(judgedBefore(name), at) {
			continue
		}
		after := j.move(ctx, name, before, at)
		changed = changed || after != before && (!after.Empty() || !before.Empty())
		if !after.Empty() {
			next.NodeTypes[name] = after
		}
	}
	return next, changed
}

// names returns the node types that are published or may be, in order.
func (j *Judgment) names(now Published) iter.Seq[string] {
	names := map[string]bool{}
	for name := range now.NodeTypes {
		names[name] = true
	}
	for name := range j.Targets {
		names[name] = true
	}
	return slices.Values(slices.Sorted(maps.Keys(names)))
}

// move returns the new published state of one node type.
func (j *Judgment) move(ctx context.Context, name string, before Entry, at time.Time) Entry {
	in := j.input(name)
	before = j.rebase(before)
	after := j.explain(name, before, pace.Next(before.State, in, at, j.Pace))
	if after.Ratio != before.Ratio {
		klog.FromContext(ctx).Info("New measured ratio", "source", j.Source, "nodeType", name, "baseline", j.Baseline, "before", before.Ratio, "ratio", after.Ratio, "estimate", in.Estimate, "without", in.Below)
	}
	return after
}

// explain returns the new published state of one node type, with why its ratio is as it is.
func (j *Judgment) explain(name string, before Entry, state pace.State) Entry {
	after := Entry{State: state, Why: before.Why}
	switch target := j.Targets[name]; {
	case after.Ratio == before.Ratio:
	case after.Ratio == 0:
		after.Why = ""
	case target.Ratio > 0:
		after.Why = target.Why
	default:
		after.Why = "returning to the ratio of the other sources"
	}
	return after
}

// Settled returns the published state after so many judgments that no ratio changes any longer.
func (j *Judgment) Settled(now Published, at time.Time) Published {
	settled := Published{NodeTypes: map[string]Entry{}}
	for name := range j.names(now) {
		before := j.rebase(now.NodeTypes[name])
		if e := j.explain(name, before, pace.Settled(before.State, j.input(name), at, j.Pace)); e.Ratio > 0 {
			settled.NodeTypes[name] = e
		}
	}
	return settled
}

// rebase converts a ratio to a previous baseline into a ratio to the current baseline:
// machines are as fast as before. It needs the ratios of both baselines.
func (j *Judgment) rebase(e Entry) Entry {
	if e.Ratio == 0 || e.Baseline == j.Baseline {
		return e
	}
	table := j.Ratios.Table()
	was, known := table.Lookup(e.Baseline)
	is, ok := table.Lookup(j.Baseline)
	if !known || !ok {
		return e
	}
	e.State = pace.State{Baseline: j.Baseline, Ratio: Publishable(e.Ratio * relative(was.Ratio, is.Ratio)), Judged: e.Judged, Changed: e.Changed}
	return e
}

// input returns the inputs of the judgment of one node type.
func (j *Judgment) input(name string) pace.Input {
	t := j.Targets[name]
	return pace.Input{Baseline: j.Baseline, Below: j.below(name), Estimate: t.Ratio, Low: t.Low, High: t.High, HeldBack: t.HeldBack}
}

// below returns the ratio to the baseline that the source starts from and returns to,
// limited to what can be published. Without its own ratio, a CPU model has the ratio of
// its node type.
func (j *Judgment) below(name string) float64 {
	table := j.Ratios.Table()
	if table == nil {
		return 1
	}
	base, ok := table.Lookup(j.Baseline)
	if !ok {
		return 1
	}
	if r, ok := j.Ratios.LookupBelow(j.Source, name); ok {
		return Publishable(relative(r, base.Ratio))
	}
	if all, model := nodetype.SplitModel(name); model != "" {
		if e, ok := table.Lookup(all); ok {
			return Publishable(relative(e.Ratio, base.Ratio))
		}
	}
	return 1
}

func relative(r, base ratios.Ratio) float64 { return r.CPUPerf / base.CPUPerf }

// Progress returns how the published ratios follow their targets.
func (j *Judgment) Progress(now Published, at time.Time) map[string]Progress {
	next := j.Pace.NextWindow(at)
	all := make(map[string]Progress, len(now.NodeTypes))
	for name, e := range now.NodeTypes {
		all[name] = Progress{e.State, e.Target(j.input(name), j.Pace), next}
	}
	return all
}
