package objective

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/promql"
)

// Config configures Objectives. All fields must be set.
type Config struct {
	Cluster *cluster.Cluster
	Query   promql.Query
	// Leads reports whether this process leads.
	Leads func() bool
	Clock clock.WithTicker
}

// Objectives knows whether observed pods meet their objectives. All methods are safe for concurrent use.
type Objectives struct {
	Config
	asker *promql.Asker

	mu       sync.Mutex
	observed map[types.UID]*observation
}

// observation is a pod whose resize is observed.
type observation struct {
	// resized is the time of the last resize, until is when that is no longer observed, and since is the
	// time of the first resize that was still observed then.
	resized, since, until time.Time
	outcomes              map[string]*outcome
}

// outcome is what is known of an objective.
type outcome struct {
	guard.Answer
	promql.Question
	// asked means that nothing more can be learned of the time before, and lacks is why its value is not
	// known.
	asked bool
	lacks string
}

// New returns objectives of which nothing is known until Run.
func New(config Config) *Objectives {
	return &Objectives{Config: config, observed: map[types.UID]*observation{}, asker: promql.New(promql.Config{
		Query: config.Query, Clock: config.Clock, Patience: patience, Busy: errBusy, Labels: "namespace and pod, or namespace and workload",
		Subject: "Objective", Consequence: "nothing is reverted because of it",
	})}
}

const (
	// patience is how long an answer may take, and allPatience how long after the beginning of a round a query
	// may begin, so that the next round begins in time.
	patience    = 5 * time.Second
	allPatience = promql.Interval - patience
	// mostTimes is of how many times before resizes a query is asked in one round. times are of how many it is
	// asked for a pod, and apart the time between them: a value that is bad now and then is not bad because of
	// a resize.
	mostTimes, times, apart = 12, 3, 2 * time.Minute
	// young is how old a pod is at least that had no value before its resize because it was well: a query may
	// return only what is not.
	young = 2 * time.Minute
)

// Problem returns an error with a line for each query that failed when it was last asked; nil if none did.
// Only the leader asks, and only while a pod with the objective is observed.
func (o *Objectives) Problem() error { return o.asker.Problem() }

// Run asks until ctx is done.
func (o *Objectives) Run(ctx context.Context) { o.asker.Run(ctx, o.round) }

// Of returns what is known of the objectives of a pod.
func (o *Objectives) Of(of *pod.Pod) (all []guard.Answer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	seen := o.observed[of.UID]
	if seen == nil || !seen.resized.Equal(of.ResizedAt()) {
		return nil
	}
	for _, known := range seen.outcomes {
		all = append(all, known.Answer)
	}
	return all
}

// subject is an observed pod with an objective.
type subject struct {
	of        *pod.Pod
	objective *policy.Objective
	seen      *observation
	outcome   *outcome
	// workloads are the workloads of the pod, and joined means that they have pods of another version which are
	// newer than the resize, or only a little older, or pods that start.
	workloads []owner
	joined    bool
}

// round asks what is not known, and has pods planned again that may break an objective because of their
// resize.
func (o *Objectives) round(ctx context.Context) {
	rules, known := o.Cluster.Rules()
	if !known || !o.Leads() || !anyIn(rules.Table) {
		o.mu.Lock()
		clear(o.observed)
		o.mu.Unlock()
		o.asker.Rest()
		return
	}
	began := o.Clock.Now()
	subjects := o.subjects(rules.Table, began)
	questions := slices.Collect(maps.Keys(subjects))
	o.asker.Ask(ctx, questions, func(i int) error { return o.ask(ctx, questions[i], subjects[questions[i]], began) }, func(i int, err error) string {
		asked := subjects[questions[i]]
		o.forget(asked, err)
		return "objective " + asked[0].objective.Name
	})
	o.notify(subjects)
}

// errBusy is why a query is not asked.
var errBusy = fmt.Errorf("this Prometheus takes too long for other queries: it must answer each within %v, and all of a round within %v", patience, allPatience)

// anyIn reports whether any rule has objectives.
func anyIn(table *ratios.Table) bool {
	return slices.ContainsFunc(table.Profiles(), func(p *ratios.Profile) bool { return p.Guard.Enabled && len(p.Guard.Objectives) > 0 })
}

// subjects returns the observed pods with their objectives, by query, and forgets all other pods.
func (o *Objectives) subjects(table *ratios.Table, now time.Time) map[promql.Question][]*subject {
	all := map[promql.Question][]*subject{}
	o.mu.Lock()
	defer o.mu.Unlock()
	before := o.observed
	o.observed = map[types.UID]*observation{}
	for _, p := range o.Cluster.Pods("").List() {
		if !guard.Observed(p, policy.LongestWindow, now) {
			continue // Finding the rule of a pod takes longer.
		}
		settings := &table.Profile(p).Guard
		if !settings.Enabled || len(settings.Objectives) == 0 || !guard.Observed(p, settings.Window, now) {
			continue
		}
		seen := observe(before[p.UID], p.ResizedAt(), settings.Window)
		o.observed[p.UID] = seen
		for i := range settings.Objectives {
			objective := &settings.Objectives[i]
			q := promql.Question{Address: objective.Prometheus, Query: objective.Query}
			known := seen.outcomes[objective.Name]
			if known == nil || known.Question != q {
				known = &outcome{Answer: guard.Answer{Name: objective.Name}, Question: q}
				seen.outcomes[objective.Name] = known
			}
			all[q] = append(all[q], &subject{of: p, objective: objective, seen: seen, outcome: known, workloads: o.workloadsOf(p)})
		}
	}
	o.join(all, now)
	return all
}

// workloadsOf returns the workloads of a pod.
func (o *Objectives) workloadsOf(p *pod.Pod) (all []owner) {
	for _, w := range o.Cluster.Owners().Chain(nil, p) {
		all = append(all, owner{namespace: p.Namespace(), workload: w.Name})
	}
	return all
}

// observe returns the observation of a pod that was resized. If an earlier resize is still observed, the
// time before that counts.
func observe(before *observation, resized time.Time, window time.Duration) *observation {
	switch {
	case before == nil || !resized.Before(before.until):
		before = &observation{since: resized, outcomes: map[string]*outcome{}}
	case !before.resized.Equal(resized):
		for _, known := range before.outcomes {
			known.Since = guard.Value{}
		}
	}
	before.resized, before.until = resized, resized.Add(window)
	return before
}

// ask asks a query for the present, and for the times before resizes of which it is not known yet.
func (o *Objectives) ask(ctx context.Context, q promql.Question, asked []*subject, began time.Time) error {
	present, err := o.query(ctx, q, began, began, asked)
	if err != nil {
		return err
	}
	earlier := map[time.Time][]*subject{}
	var compared []*subject
	o.mu.Lock()
	for _, s := range asked {
		s.outcome.Since, s.outcome.Unknown = s.since(present[s])
		if s.outcome.asked {
			if s.outcome.lacks != "" {
				s.outcome.Unknown = s.outcome.lacks
			}
			continue
		}
		s.outcome.Unknown = "its value before the resize has not been asked for yet"
		more := slices.DeleteFunc(s.before(), func(at time.Time) bool { return earlier[at] != nil })
		if len(earlier)+len(more) > mostTimes {
			continue
		}
		compared = append(compared, s)
		for _, at := range s.before() {
			earlier[at] = append(earlier[at], s)
		}
	}
	o.mu.Unlock()
	// All that is known when the time of the round is over is kept: a slow Prometheus would never answer everything.
	past := map[time.Time]map[*subject]values{}
	for i, s := range compared {
		for _, at := range s.before() {
			if past[at] == nil && err == nil {
				past[at], err = o.query(ctx, q, at, began, earlier[at])
			}
		}
		if err != nil {
			compared = compared[:i]
			break
		}
	}
	if errors.Is(err, errBusy) {
		err = nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range compared {
		v := nothing
		for _, at := range s.before() {
			v.pod, v.workload = s.objective.Worse(v.pod, past[at][s].pod), s.objective.Worse(v.workload, past[at][s].workload)
		}
		s.outcome.asked = true
		s.outcome.Before, s.outcome.lacks = s.valueBefore(v)
		if _, s.outcome.Unknown = s.since(present[s]); s.outcome.lacks != "" {
			s.outcome.Unknown = s.outcome.lacks
		}
	}
	return err
}

// query asks a query in a round, and returns what its answer says of pods.
func (o *Objectives) query(ctx context.Context, q promql.Question, at, began time.Time, of []*subject) (map[*subject]values, error) {
	if o.Clock.Since(began) > allPatience {
		return nil, errBusy
	}
	got := expect(of)
	return got.values, o.asker.Answer(ctx, q, at, got.take)
}

// forget forgets the last values since resizes because a query failed: they may be wrong by now.
func (o *Objectives) forget(asked []*subject, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range asked {
		s.outcome.Since = guard.Value{}
		s.outcome.Unknown = err.Error()
	}
}

// notify has pods planned again whose objective is broken now.
func (o *Objectives) notify(subjects map[promql.Question][]*subject) {
	for _, asked := range subjects {
		for _, s := range asked {
			o.mu.Lock()
			broken := s.outcome.Since.Known && s.objective.IsBrokenBy(s.outcome.Since.N)
			o.mu.Unlock()
			if broken {
				o.Cluster.Changed(s.of)
			}
		}
	}
}
