package judge

import (
	"context"
	"maps"
	"slices"
	"time"

	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/estimate"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/pace"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/settings"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

// moved returns the published state after the judgment, and whether it differs.
func (j *Judge) moved(ctx context.Context, now benchmark.Published, v *View) (benchmark.Published, bool) {
	names := map[string]bool{}
	for name := range now.NodeTypes {
		names[name] = true
	}
	for _, e := range v.Estimates {
		if v.Settings.Mode(e.NodeType) == settings.Apply {
			names[e.NodeType] = true
		}
	}
	next := benchmark.Published{NodeTypes: map[string]benchmark.Entry{}}
	changed := false
	// A view may have been made before the window has ended.
	at := j.config.Clock.Now()
	for _, name := range slices.Sorted(maps.Keys(names)) {
		before, ok := now.NodeTypes[name]
		// A ratio that has ended starts again only in a window that was not yet judged for it.
		if !ok && !v.Settings.Pace.Due(j.config.Provider.JudgedBefore(name), at) {
			continue
		}
		after := j.move(ctx, name, before, v, at)
		changed = changed || after != before && (!after.Empty() || !before.Empty())
		if !after.Empty() {
			next.NodeTypes[name] = after
		}
	}
	return next, changed
}

// move returns the new published state of one node type.
func (j *Judge) move(ctx context.Context, name string, before benchmark.Entry, v *View, at time.Time) benchmark.Entry {
	in := j.input(name, v)
	before = j.rebase(before, v.Baseline)
	after := benchmark.Entry{State: pace.Next(before.State, in, at, v.Settings.Pace), Why: before.Why}
	if after.Ratio != before.Ratio {
		after.Why = "returning to the ratio of the other sources"
		if e, ok := v.Estimate(name); ok && in.Estimate > 0 {
			after.Why = why(e)
		}
		if after.Ratio == 0 {
			after.Why = ""
		}
		klog.FromContext(ctx).Info("New measured ratio", "nodeType", name, "baseline", v.Baseline, "before", before.Ratio, "ratio", after.Ratio, "estimate", in.Estimate, "without", in.Below)
	}
	return after
}

// rebase converts a ratio to a previous baseline into a ratio to the current baseline:
// machines are as fast as before. It needs the ratios of both baselines.
func (j *Judge) rebase(e benchmark.Entry, baseline string) benchmark.Entry {
	if e.Ratio == 0 || e.Baseline == baseline {
		return e
	}
	table := j.config.Ratios.Table()
	was, known := table.Lookup(e.Baseline)
	is, ok := table.Lookup(baseline)
	if !known || !ok {
		return e
	}
	e.State = pace.State{Baseline: baseline, Ratio: benchmark.Publishable(e.Ratio * relative(was.Ratio, is.Ratio)), Judged: e.Judged, Changed: e.Changed}
	return e
}

// input returns the inputs of the judgment of one node type.
func (j *Judge) input(name string, v *View) pace.Input {
	in := pace.Input{Baseline: v.Baseline, Below: j.below(name, v.Baseline)}
	if e, ok := v.Estimate(name); ok && v.Settings.Mode(name) == settings.Apply {
		in.Estimate, in.HeldBack = target(e)
		if e.Interval != nil {
			in.Low, in.High = e.Interval.Low, e.Interval.High
		}
	}
	return in
}

// target returns the ratio that an estimate leads to, which is also the suggested ratio; 0 if
// there are too few measurements.
func target(e *estimate.Estimate) (ratio float64, heldBack bool) {
	for _, h := range e.Doubts {
		if h.Code.NotEnough() {
			return 0, false
		}
	}
	return benchmark.Significant(e.Ratio), len(e.Doubts) > 0
}

// below returns the ratio to the baseline that would be in effect without measured ratios,
// limited to what can be published. Without its own ratio, a CPU model has the ratio of
// its node type.
func (j *Judge) below(name, baseline string) float64 {
	table := j.config.Ratios.Table()
	if table == nil {
		return 1
	}
	base, ok := table.Lookup(baseline)
	if !ok {
		return 1
	}
	if r, ok := j.config.Ratios.LookupWithout(benchmark.Source, name); ok {
		return benchmark.Publishable(relative(r, base.Ratio))
	}
	if all, model := nodetype.SplitModel(name); model != "" {
		if e, ok := table.Lookup(all); ok {
			return benchmark.Publishable(relative(e.Ratio, base.Ratio))
		}
	}
	return 1
}

func relative(r, base ratios.Ratio) float64 { return r.CPUPerf / base.CPUPerf }
