package objective

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// Element is an element of the vector that answers a query: a value, and the labels that say of which pod or
// workload it is.
type Element struct {
	Namespace, Pod, Workload string
	Value                    float64
}

// Query asks the Prometheus at an address for the vector of a query at a time, and calls take for each of its elements. After
// an error, these say nothing.
type Query func(ctx context.Context, address, query string, at time.Time, take func(Element)) error

// Config configures Objectives. All fields must be set.
type Config struct {
	Cluster *cluster.Cluster
	Query   Query
	// Leads reports whether this process leads.
	Leads func() bool
	Clock clock.WithTicker
}

// Objectives knows whether observed pods meet their objectives. All methods are safe for concurrent use.
type Objectives struct {
	Config

	mu       sync.Mutex
	observed map[types.UID]*observation
	// logged is the last error of each query in the log.
	logged map[question]string
	// failing has a line for each query that failed in the last round.
	failing []string
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
	question
	// asked means that nothing more can be learned of the time before, and lacks is why its value is not
	// known.
	asked bool
	lacks string
}

// question is a query to a Prometheus.
type question struct{ address, query string }

// New returns objectives of which nothing is known until Run.
func New(config Config) *Objectives {
	return &Objectives{Config: config, observed: map[types.UID]*observation{}, logged: map[question]string{}}
}

const (
	// interval is the time between two rounds.
	interval = 30 * time.Second
	// patience is how long an answer may take, and allPatience how long after the beginning of a round a query
	// may begin, so that the next round begins in time.
	patience    = 5 * time.Second
	allPatience = interval - patience
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
func (o *Objectives) Problem() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.failing) == 0 {
		return nil
	}
	return errors.New(strings.Join(o.failing, "\n"))
}

// Run asks until ctx is done.
func (o *Objectives) Run(ctx context.Context) {
	ticker := o.Clock.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
			o.round(ctx)
		}
	}
}

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
		o.failing = nil
		o.mu.Unlock()
		return
	}
	began := o.Clock.Now()
	subjects := o.subjects(rules.Table, began)
	// Each Prometheus is asked on its own, so that none has to wait for a slow one.
	questions := map[string][]question{}
	for q := range subjects {
		questions[q.address] = append(questions[q.address], q)
	}
	var asking sync.WaitGroup
	var mu sync.Mutex
	var failing []string
	for _, of := range questions {
		asking.Go(func() {
			faults := o.askAll(ctx, of, subjects, began)
			mu.Lock()
			defer mu.Unlock()
			failing = append(failing, faults...)
		})
	}
	asking.Wait()
	slices.Sort(failing)
	o.mu.Lock()
	o.failing = failing
	o.mu.Unlock()
	o.notify(subjects)
}

// errBusy is why a query is not asked.
var errBusy = fmt.Errorf("this Prometheus takes too long for other queries: it must answer each within %v, and all of a round within %v", patience, allPatience)

// askAll asks the queries to one Prometheus, each until it fails to answer in time, and returns a line for each that
// failed.
func (o *Objectives) askAll(ctx context.Context, questions []question, subjects map[question][]*subject, began time.Time) (failing []string) {
	slow := false
	for _, q := range questions {
		at, err := o.Clock.Now(), errBusy
		if !slow {
			err = o.ask(ctx, q, subjects[q], began)
		}
		if ctx.Err() != nil {
			return failing
		}
		if err != nil {
			slow = slow || o.Clock.Since(at) >= patience
			o.fail(ctx, q, subjects[q], err)
			failing = append(failing, fmt.Sprintf("objective %s cannot be read from %s, so nothing is reverted because of it: %s",
				subjects[q][0].objective.Name, q.address, strings.Join(strings.Fields(err.Error()), " ")))
			continue
		}
		o.logFault(ctx, q, "")
	}
	return failing
}

// anyIn reports whether any rule has objectives.
func anyIn(table *ratios.Table) bool {
	for _, profile := range table.Profiles() {
		if profile.Guard.Enabled && len(profile.Guard.Objectives) > 0 {
			return true
		}
	}
	return false
}

// subjects returns the observed pods with their objectives, by query, and forgets all other pods.
func (o *Objectives) subjects(table *ratios.Table, now time.Time) map[question][]*subject {
	all := map[question][]*subject{}
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
			q := question{objective.Prometheus, objective.Query}
			known := seen.outcomes[objective.Name]
			if known == nil || known.question != q {
				known = &outcome{Answer: guard.Answer{Name: objective.Name}, question: q}
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
func (o *Objectives) ask(ctx context.Context, q question, asked []*subject, began time.Time) error {
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
func (o *Objectives) query(ctx context.Context, q question, at, began time.Time, of []*subject) (map[*subject]values, error) {
	if o.Clock.Since(began) > allPatience {
		return nil, errBusy
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	got := expect(of)
	if err := o.Query(ctx, q.address, q.query, at, got.take); err != nil {
		return nil, err
	}
	return got.values, got.problem()
}

// fail notes that a query failed. The last value since the resize may be wrong by now.
func (o *Objectives) fail(ctx context.Context, q question, asked []*subject, err error) {
	o.mu.Lock()
	for _, s := range asked {
		s.outcome.Since = guard.Value{}
		s.outcome.Unknown = err.Error()
	}
	o.mu.Unlock()
	o.logFault(ctx, q, err.Error())
}

// logFault logs why a query failed, unless it failed for the same reason before.
func (o *Objectives) logFault(ctx context.Context, q question, text string) {
	o.mu.Lock()
	before := o.logged[q]
	if o.logged[q] = text; text == "" {
		delete(o.logged, q)
	}
	o.mu.Unlock()
	switch text {
	case before:
	case "":
		klog.FromContext(ctx).Info("Objective answered again", "prometheus", q.address, "query", q.query)
	default:
		klog.FromContext(ctx).Error(nil, "Objective not known; nothing is reverted because of it", "prometheus", q.address, "query", q.query, "why", text)
	}
}

// notify has pods planned again whose objective is broken now.
func (o *Objectives) notify(subjects map[question][]*subject) {
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
