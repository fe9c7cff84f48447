package judge

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/estimate"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/settings"
	"github.com/workload-resizer/workload-resizer/ratios/measured"
)

// View has the measurements and their results at one time. It must not be modified.
type View struct {
	// Time is when the view was created.
	Time     time.Time
	Settings *settings.Settings
	// Baseline is empty while there is no table. Then there are no estimates.
	Baseline   string
	Aggregates []estimate.Aggregate
	// Estimates are sorted by node type.
	Estimates []estimate.Estimate
	// Progress has the node types that follow their estimates, and those that
	// return to the ratio of the other sources.
	Progress map[string]measured.Progress
}

// Estimate returns the estimate of a node type.
func (v *View) Estimate(nodeType string) (*estimate.Estimate, bool) {
	i, found := slices.BinarySearchFunc(v.Estimates, nodeType, func(e estimate.Estimate, name string) int {
		return strings.Compare(e.NodeType, name)
	})
	if !found {
		return nil, false
	}
	return &v.Estimates[i], true
}

// freshFor is how long estimates are reused if nothing has changed: samples age.
const freshFor = time.Minute

// views caches the last estimates.
type views struct {
	mu       sync.Mutex
	last     *View
	revision int64
}

// View returns the current view. The error is the error of Ready.
func (j *Judge) View() (*View, error) {
	set, err := j.ready()
	if err != nil {
		return nil, err
	}
	v := *j.estimated(set)
	v.Progress = j.judgment(&v).Progress(j.config.Provider.Published(), j.config.Clock.Now())
	return &v, nil
}

// Ready returns why there is no view yet; nil if there is one. Unlike View, it is cheap.
func (j *Judge) Ready() error {
	_, err := j.ready()
	return err
}

var errSettingsUnread = errors.New("the benchmark settings are not read yet")

func (j *Judge) ready() (*settings.Settings, error) {
	set, err := j.config.Provider.Settings()
	if set == nil {
		return nil, cmp.Or(err, errSettingsUnread)
	}
	if err := j.config.Provider.Samples().Err(); errors.Is(err, document.ErrUnread) {
		return nil, err
	}
	return set, nil
}

// estimated returns the part of a view that is slow to compute. Concurrent callers share one
// computation.
func (j *Judge) estimated(set *settings.Settings) *View {
	j.view.mu.Lock()
	defer j.view.mu.Unlock()
	now := j.config.Clock.Now()
	all, revision := j.config.Provider.Samples().All()
	baseline := j.baseline()
	if v := j.view.last; v != nil && v.Settings == set && j.view.revision == revision && v.Baseline == baseline {
		// A view from a clock that was ahead is not fresh.
		if age := now.Sub(v.Time); age >= 0 && age < freshFor {
			return v
		}
	}
	v := &View{Time: now, Settings: set, Baseline: baseline}
	v.Aggregates = estimate.Aggregates(all, now, set.Estimate)
	v.Estimates = estimate.Estimates(v.Aggregates, baseline, estimate.Cluster{Sizes: j.config.Sizes()}, set.Estimate)
	j.view.last, j.view.revision = v, revision
	return v
}

// baseline returns the node type that requests are written for; empty while there is no table.
func (j *Judge) baseline() string {
	table := j.config.Ratios.Table()
	if table == nil {
		return ""
	}
	return table.Baseline
}
