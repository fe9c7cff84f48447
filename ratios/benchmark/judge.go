package benchmark

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/estimate"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/pace"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/settings"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

// retryPeriod is how soon a judgement that could not be made or stored is tried
// again.
const retryPeriod = 10 * time.Second

// judgeAll judges every window once it has ended, where this replica leads.
func (p *Provider) judgeAll(ctx context.Context) error {
	logger := klog.FromContext(ctx)
	last := ""
	for {
		err := p.Judge(ctx)
		if ctx.Err() != nil {
			return nil
		}
		next := p.nextJudgement(err)
		if text := fmt.Sprint(err); err != nil && text != last {
			logger.Error(err, "Measured ratios stay as they are, trying again")
			last = text
		}
		timer := p.config.Clock.NewTimer(next.Sub(p.config.Clock.Now()))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-p.rearm:
			timer.Stop()
		case <-timer.C():
		}
	}
}

// nextJudgement is when the present window ends, or earlier if the last judgement
// was none.
func (p *Provider) nextJudgement(failed error) time.Time {
	now := p.config.Clock.Now()
	retry := now.Add(retryPeriod)
	set := p.inForce()
	if set == nil {
		return retry
	}
	if end := set.Pace.NextWindow(now); failed == nil || end.Before(retry) {
		return end
	}
	return retry
}

// wake has the next judgement looked for anew.
func (p *Provider) wake() {
	select {
	case p.rearm <- struct{}{}:
	default: // It will look at this change too.
	}
}

// Judge moves what is published by what is known now, if this replica leads and
// the window that ended last was not judged yet; Run does so by itself. Where not
// all of that is known, everything stays as it is: samples that cannot be read have
// not aged.
func (p *Provider) Judge(ctx context.Context) error {
	if !p.config.Leads() || p.others == nil || p.others.Table() == nil {
		return nil
	}
	if err := errors.Join(p.samples.Err(), p.settingsProblem()); err != nil {
		return err
	}
	v, err := p.View()
	if err != nil {
		return err
	}
	if p.config.ReadOnly {
		p.mu.Lock()
		now := p.published
		p.mu.Unlock()
		if next, changed := p.moved(ctx, now, v); changed {
			p.accept(ctx, next)
		}
		return nil
	}
	return p.document.Update(ctx, false, func(now published, _ map[string]string) (map[string]string, error) {
		next, changed := p.moved(ctx, now, v)
		if !changed {
			return nil, nil
		}
		return next.format()
	})
}

// moved returns what is published after the judgement.
func (p *Provider) moved(ctx context.Context, now published, v *View) (published, bool) {
	names := map[string]bool{}
	for name := range now.NodeTypes {
		names[name] = true
	}
	for _, e := range v.Estimates {
		if v.Settings.Mode(e.NodeType) == settings.Apply {
			names[e.NodeType] = true
		}
	}
	next := published{NodeTypes: map[string]entry{}}
	changed := false
	// A view may have been made before the window has ended.
	at := p.config.Clock.Now()
	for _, name := range slices.Sorted(maps.Keys(names)) {
		before, ok := now.NodeTypes[name]
		// What has ended starts anew with a window that did not count for it.
		if !ok && !v.Settings.Pace.Due(p.judgedBefore(name), at) {
			continue
		}
		after := p.move(ctx, name, before, v, at)
		changed = changed || after != before && (!after.Empty() || !before.Empty())
		if !after.Empty() {
			next.NodeTypes[name] = after
		}
	}
	return next, changed
}

// judgedBefore is the end of the last window by which a node type was judged that
// is not published any more; zero if this replica knows of none.
func (p *Provider) judgedBefore(name string) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended[name]
}

// move returns what becomes of one node type.
func (p *Provider) move(ctx context.Context, name string, before entry, v *View, at time.Time) entry {
	in := p.input(name, v)
	before = p.rebase(before, v.Baseline)
	after := entry{pace.Next(before.State, in, at, v.Settings.Pace), before.Why}
	if after.Ratio != before.Ratio {
		after.Why = "on the way back to what other sources say"
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

// rebase keeps a ratio in force that is relative to another baseline, as one to the
// present: machines are as fast as before. It needs what both come to.
func (p *Provider) rebase(e entry, baseline string) entry {
	if e.Ratio == 0 || e.Baseline == baseline {
		return e
	}
	table := p.others.Table()
	was, known := table.Lookup(e.Baseline)
	is, ok := table.Lookup(baseline)
	if !known || !ok {
		return e
	}
	e.State = pace.State{Baseline: baseline, Ratio: bounded(e.Ratio * relative(was.Ratio, is.Ratio)), Judged: e.Judged, Changed: e.Changed}
	return e
}

// input is what is known of one node type.
func (p *Provider) input(name string, v *View) pace.Input {
	in := pace.Input{Baseline: v.Baseline, Below: p.below(name, v.Baseline)}
	if e, ok := v.Estimate(name); ok && v.Settings.Mode(name) == settings.Apply {
		in.Estimate, in.HeldBack = target(e)
	}
	return in
}

// target is what an estimate moves a ratio to, the same as people are suggested; 0
// if there is too little to tell.
func target(e *estimate.Estimate) (ratio float64, heldBack bool) {
	for _, h := range e.Holds {
		if h.Code.NotEnough() {
			return 0, false
		}
	}
	return Significant(e.Ratio), len(e.Holds) > 0
}

// Significant rounds a ratio to what people read, and benchmarks can tell: four
// digits.
func Significant(ratio float64) float64 { return rounded(ratio, 4) }

func rounded(ratio float64, digits int) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(ratio, 'g', digits, 64), 64)
	if err != nil {
		return ratio
	}
	return rounded
}

// below is what would be in force without this source, relative to the baseline, as
// far as a way from or to it can be published. Machines of one CPU model are else as
// all of their type.
func (p *Provider) below(name, baseline string) float64 {
	table := p.others.Table()
	if table == nil {
		return 1
	}
	base, ok := table.Lookup(baseline)
	if !ok {
		return 1
	}
	if r, ok := p.others.LookupWithout(Source, name); ok {
		return bounded(relative(r, base.Ratio))
	}
	if all, model := nodetype.SplitModel(name); model != "" {
		if e, ok := table.Lookup(all); ok {
			return bounded(relative(e.Ratio, base.Ratio))
		}
	}
	return 1
}

func relative(r, base ratios.Ratio) float64 { return r.CPUPerf / base.CPUPerf }

// mostParts is how many benchmarks are named: the text is kept with the ratio.
const mostParts = 8

// why tells in one line what a ratio is made of.
func why(e *estimate.Estimate) string {
	var parts []string
	for _, part := range e.Parts {
		if part.Weight > 0 {
			parts = append(parts, fmt.Sprintf("%s %.2f", part.Benchmark, part.Ratio))
		}
	}
	if more := len(parts) - mostParts; more > 0 {
		parts = append(parts[:mostParts], fmt.Sprintf("and %d more", more))
	}
	machines := "machines"
	if e.Machines == 1 {
		machines = "machine"
	}
	return fmt.Sprintf("%.2f (%.2f to %.2f) by %d %s: %s", e.Ratio, e.Low, e.High, e.Machines, machines, strings.Join(parts, ", "))
}
