package benchmark

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/estimate"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/fetch"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/pace"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/settings"
)

// View is what is known at a moment. Nobody may change it.
type View struct {
	// Time is when it was made.
	Time     time.Time
	Settings *settings.Settings
	// Baseline is empty while no table names one; then there are no estimates.
	Baseline   string
	Aggregates []estimate.Aggregate
	// Estimates are by node type.
	Estimates []estimate.Estimate
	// Progress is that of node types which follow their estimates, and of those on
	// their way back.
	Progress map[string]Progress
	Feeds    []fetch.Status
}

// Progress is how the ratio of a node type follows its estimate.
type Progress struct {
	pace.State
	// Target is the ratio to the baseline that it is on its way to; State.Ratio if
	// it rests.
	Target float64
	// Next is when it is judged next.
	Next time.Time
}

// Estimate returns that of a node type.
func (v *View) Estimate(nodeType string) (*estimate.Estimate, bool) {
	i, found := slices.BinarySearchFunc(v.Estimates, nodeType, func(e estimate.Estimate, name string) int {
		return strings.Compare(e.NodeType, name)
	})
	if !found {
		return nil, false
	}
	return &v.Estimates[i], true
}

// freshFor is how long estimates count although nothing has changed: samples grow
// old.
const freshFor = time.Minute

// views keeps the estimates that were made last.
type views struct {
	mu       sync.Mutex
	last     *View
	revision int64
}

// View returns what is known now. The error is that of Ready.
func (p *Provider) View() (*View, error) {
	set, err := p.ready()
	if err != nil {
		return nil, err
	}
	v := *p.estimated(set)
	v.Progress = p.progress(&v)
	v.Feeds = p.feeds.Statuses()
	return &v, nil
}

// Ready says what is not known yet, nil if there is a View. It costs next to
// nothing, other than a view.
func (p *Provider) Ready() error {
	_, err := p.ready()
	return err
}

func (p *Provider) ready() (*settings.Settings, error) {
	set := p.inForce()
	if set == nil {
		return nil, cmp.Or(p.settingsProblem(), errSettingsUnread)
	}
	if err := p.samples.Err(); errors.Is(err, document.ErrUnread) {
		return nil, err
	}
	return set, nil
}

// estimated returns the part of a view that takes long to make. Callers at a time
// wait for one of them.
func (p *Provider) estimated(set *settings.Settings) *View {
	p.view.mu.Lock()
	defer p.view.mu.Unlock()
	now := p.config.Clock.Now()
	all, revision := p.samples.All()
	baseline := p.baseline()
	if v := p.view.last; v != nil && v.Settings == set && p.view.revision == revision && v.Baseline == baseline {
		// One of a clock that was ahead is not fresh until then.
		if age := now.Sub(v.Time); age >= 0 && age < freshFor {
			return v
		}
	}
	v := &View{Time: now, Settings: set, Baseline: baseline}
	v.Aggregates = estimate.Aggregates(all, now, set.Estimate)
	if baseline != "" {
		v.Estimates = estimate.Estimates(v.Aggregates, baseline, set.Estimate)
	}
	p.view.last, p.view.revision = v, revision
	return v
}

// baseline is the node type that requests are written for; empty while nobody
// knows.
func (p *Provider) baseline() string {
	if p.others == nil {
		return ""
	}
	table := p.others.Table()
	if table == nil {
		return ""
	}
	return table.Baseline
}

func (p *Provider) progress(v *View) map[string]Progress {
	p.mu.Lock()
	now := p.published.NodeTypes
	p.mu.Unlock()
	next := v.Settings.Pace.NextWindow(p.config.Clock.Now())
	all := make(map[string]Progress, len(now))
	for name, e := range now {
		all[name] = Progress{e.State, e.Target(p.input(name, v), v.Settings.Pace), next}
	}
	return all
}

var errSettingsUnread = errors.New("the settings of benchmarks are not read yet")

// settingsProblem is why the settings in force are not what their ConfigMap says.
func (p *Provider) settingsProblem() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.settingsErr
}
