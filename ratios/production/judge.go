package production

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/ratios/measured"
	"github.com/workload-resizer/workload-resizer/ratios/pace"
	"github.com/workload-resizer/workload-resizer/ratios/production/estimate"
	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// Evidence is what is known of the replicas of workloads.
type Evidence interface {
	// Evidence returns a copy, which belongs to the caller.
	Evidence() *evidence.Evidence
	// Missing returns why some of it may be missing; nil if nothing is missing.
	Missing() error
}

// JudgeConfig configures a Judge. All fields without a default must be set.
type JudgeConfig struct {
	Provider *Provider
	Ratios   measured.Ratios
	// Evidence is nil if no usage is collected. Then ratios return to the other sources.
	Evidence Evidence
	// NodeTypes returns the node types in the cluster; none while they are not known.
	NodeTypes func() []string
	// Applies reports whether ratios follow the suggestions. By default, they do not.
	Applies func() bool
	// Leads reports whether this replica makes suggestions and changes ratios. By default, it does.
	Leads func() bool
	// Settings are when estimates are trustworthy, and Pace how ratios follow them: the defaults unless they are set.
	Settings *estimate.Settings
	Pace     *pace.Settings
	// Clock is the system clock by default.
	Clock clock.WithTicker
}

// Judge makes suggestions, and changes the ratios that its provider publishes. All methods are safe for concurrent use.
type Judge struct {
	config   JudgeConfig
	settings estimate.Settings
	pace     pace.Settings

	// judging serializes judgments, and guards the suggestions of the current window, which may not be stored yet.
	judging sync.Mutex
	made    content
	// missed means that evidence was missing in the last judgment. The source is unhealthy if it still is in the next one: after a
	// start, it takes a moment to be read.
	missed bool
}

// NewJudge returns a judge that changes nothing until Run.
func NewJudge(c JudgeConfig) *Judge {
	if c.Applies == nil {
		c.Applies = func() bool { return false }
	}
	if c.Leads == nil {
		c.Leads = func() bool { return true }
	}
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	j := &Judge{config: c, settings: estimate.Defaults(), pace: pace.Defaults()}
	if c.Settings != nil {
		j.settings = *c.Settings
	}
	if c.Pace != nil {
		j.pace = *c.Pace
	}
	return j
}

// Missing returns an error if ratios cannot be stored because their ConfigMap does not exist.
func (j *Judge) Missing() error { return j.config.Provider.Missing() }

// Run judges every window after its end, while this replica leads, until ctx is done. Then it
// returns nil.
func (j *Judge) Run(ctx context.Context) error {
	windows := &measured.Windows{Source: Source, Judge: j.Judge, Leads: j.config.Leads, Next: j.pace.NextWindow, Clock: j.config.Clock}
	return windows.Run(ctx)
}

var errNoNodes = errors.New("no node of a known type is known yet")

// Judge makes suggestions and updates the published ratios if this replica leads and the last window that ended has
// not been judged yet. Run calls it automatically. If evidence cannot be read, nothing changes for as long as evidence lives.
func (j *Judge) Judge(ctx context.Context) error {
	j.judging.Lock()
	defer j.judging.Unlock()
	if !j.config.Leads() {
		j.miss(nil) // Another replica looks at evidence.
		return nil
	}
	table := j.config.Ratios.Table()
	if table == nil {
		return measured.ErrNoRatios
	}
	at := j.config.Clock.Now()
	if j.config.Evidence == nil {
		return j.end(ctx, table.Baseline, at)
	}
	if now, read := j.config.Provider.current(); read && !j.pace.Due(now.Time, at) {
		return nil
	}
	if err := j.suggest(table.Baseline, at); err != nil {
		if now, _ := j.config.Provider.current(); j.config.Applies() && now.lives(at) {
			return err // Ratios hold.
		}
		return errors.Join(err, j.end(ctx, table.Baseline, at))
	}
	made := j.made
	return j.config.Provider.change(ctx, func(now content) (content, bool) {
		next := made.after(now)
		next.Published, _ = j.judgment(&next, j.config.Applies(), at).Move(ctx, now.Published, j.config.Provider.judgedBefore, at)
		return next, true
	})
}

const secondsPerHour = int64(time.Hour / time.Second)

// endOf returns when an hour of evidence ended, in hours since 1970; zero if it is 0. A clock may have been ahead.
func endOf(hour int64, now time.Time) time.Time {
	if hour == 0 {
		return time.Time{}
	}
	return slices.MinFunc([]time.Time{time.Unix((hour+1)*secondsPerHour, 0), now}, time.Time.Compare).UTC()
}

// suggest makes the suggestions of the current window, unless it has made them.
func (j *Judge) suggest(baseline string, at time.Time) error {
	if j.made.Baseline == baseline && !j.pace.Due(j.made.Time, at) {
		return nil
	}
	if err := j.config.Evidence.Missing(); err != nil {
		j.miss(err)
		return err
	}
	j.miss(nil)
	cluster := j.config.NodeTypes()
	if len(cluster) == 0 {
		return errNoNodes // Types that are not compared would seem to be gone.
	}
	known := j.config.Evidence.Evidence()
	known.Forget(at.Unix() / secondsPerHour) // Where nothing is measured, nothing else makes it age.
	result := estimate.Estimate(known, baseline, j.settings)
	j.made = content{Time: at.UTC(), Until: endOf(result.Latest, at), Baseline: baseline, Suggestions: suggestions(result, baseline, cluster)}
	j.made.age()
	return nil
}

// miss records why evidence is missing; nil if it is not.
func (j *Judge) miss(err error) {
	if err == nil || j.missed {
		j.config.Provider.set(&j.config.Provider.unknown, err)
	}
	j.missed = err != nil
}

// end lets all ratios return to the other sources, without evidence: none is collected, or ratios need not follow it. Suggestions that
// nobody makes again end, too.
func (j *Judge) end(ctx context.Context, baseline string, at time.Time) error {
	if now, read := j.config.Provider.current(); !read || len(now.NodeTypes) == 0 && (len(now.Suggestions) == 0 || j.config.Evidence != nil) {
		return nil
	}
	judgment := &measured.Judgment{Source: Source, Baseline: baseline, Ratios: j.config.Ratios, Pace: j.pace}
	return j.config.Provider.change(ctx, func(now content) (content, bool) {
		published, changed := judgment.Move(ctx, now.Published, j.config.Provider.judgedBefore, at)
		next := now
		if next.Published = published; j.config.Evidence == nil {
			next.Since, next.Until, next.Suggestions = time.Time{}, time.Time{}, nil
		}
		return next, changed || len(next.Suggestions) < len(now.Suggestions)
	})
}

// judgment returns the judgment of suggestions, which ratios follow or do not.
func (j *Judge) judgment(c *content, applies bool, at time.Time) *measured.Judgment {
	targets := map[string]measured.Target{}
	if applies && c.lives(at) {
		for i := range c.Suggestions {
			targets[c.Suggestions[i].NodeType] = c.Suggestions[i].target(at)
		}
	}
	return &measured.Judgment{Source: Source, Baseline: c.Baseline, Ratios: j.config.Ratios, Pace: j.pace, Targets: targets}
}
