package objective

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// Element is an element of the vector that answers a query.
type Element struct {
	Labels map[string]string
	Value  float64
}

// Query asks the Prometheus at an address for the vector of a query at a time.
type Query func(ctx context.Context, address, query string, at time.Time) ([]Element, error)

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
	guard.Outcome
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
	// patience is how long an answer may take.
	patience = 5 * time.Second
	// mostTimes is of how many times before resizes a query is asked in one round.
	mostTimes = 10
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
func (o *Objectives) Of(of *pod.Pod) (all []guard.Outcome) {
	o.mu.Lock()
	defer o.mu.Unlock()
	seen := o.observed[of.UID]
	if seen == nil || !seen.resized.Equal(of.ResizedAt()) {
		return nil
	}
	for _, known := range seen.outcomes {
		all = append(all, known.Outcome)
	}
	return all
}

// subject is an observed pod with an objective.
type subject struct {
	of        *pod.Pod
	objective *ratios.Objective
	seen      *observation
	outcome   *outcome
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
	now := o.Clock.Now()
	subjects := o.subjects(rules.Table, now)
	slow := map[string]bool{}
	var failing []string
	fail := func(q question, asked []*subject, err error) {
		o.fail(ctx, q, asked, err)
		failing = append(failing, fmt.Sprintf("objective %s cannot be read from %s, so nothing is reverted because of it: %s",
			asked[0].objective.Name, q.address, strings.Join(strings.Fields(err.Error()), " ")))
	}
	for q, asked := range subjects {
		if slow[q.address] {
			fail(q, asked, fmt.Errorf("it did not answer another query within %v", patience))
			continue
		}
		err := o.ask(ctx, q, asked, now)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			slow[q.address] = o.Clock.Since(now) >= patience
			fail(q, asked, err)
			continue
		}
		o.logFault(ctx, q, "")
	}
	slices.Sort(failing)
	o.mu.Lock()
	o.failing = failing
	o.mu.Unlock()
	o.notify(subjects)
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
		if !guard.Observed(p, ratios.LongestWindow, now) {
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
				known = &outcome{Outcome: guard.Outcome{Name: objective.Name}, question: q}
				seen.outcomes[objective.Name] = known
			}
			all[q] = append(all[q], &subject{p, objective, seen, known})
		}
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
func (o *Objectives) ask(ctx context.Context, q question, asked []*subject, now time.Time) error {
	elements, err := o.query(ctx, q, now)
	if err != nil {
		return err
	}
	present, err := o.index(elements)
	if err != nil {
		return err
	}
	earlier := map[time.Time][]*subject{}
	o.mu.Lock()
	for _, s := range asked {
		s.outcome.Since = guard.Of(o.valueOf(s, present))
		if s.outcome.Unknown = s.outcome.lacks; s.outcome.asked {
			continue
		}
		s.outcome.Unknown = "its value before the resize has not been asked for yet"
		if at := s.seen.since.Truncate(interval); earlier[at] != nil || len(earlier) < mostTimes {
			earlier[at] = append(earlier[at], s)
		}
	}
	o.mu.Unlock()
	for at, of := range earlier {
		elements, err := o.query(ctx, q, at)
		if err != nil {
			return err
		}
		past, err := o.index(elements)
		if err != nil {
			return err
		}
		o.mu.Lock()
		for _, s := range of {
			value := o.valueOf(s, past)
			s.outcome.asked, s.outcome.Unknown = true, ""
			if math.IsNaN(value) && s.of.CreatedAt().Add(young).After(at) {
				s.outcome.lacks = "the pod is new, and had no value before its resize"
				s.outcome.Unknown = s.outcome.lacks
				continue
			}
			s.outcome.Before = guard.Of(value)
		}
		o.mu.Unlock()
	}
	return nil
}

func (o *Objectives) query(ctx context.Context, q question, at time.Time) ([]Element, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return o.Query(ctx, q.address, q.query, at)
}

// owner is a pod or a workload.
type owner struct{ namespace, pod, workload string }

// errLabels is returned for answers that are not about pods or workloads.
var errLabels = errors.New("an element has neither the labels namespace and pod nor namespace and workload: aggregate by them, as in sum by (namespace, pod) (…)")

// index returns the values of pods and workloads.
func (o *Objectives) index(elements []Element) (map[owner][]float64, error) {
	values := make(map[owner][]float64, len(elements))
	for _, e := range elements {
		of := owner{namespace: e.Labels["namespace"], pod: e.Labels["pod"]}
		if of.pod == "" {
			of.workload = e.Labels["workload"]
		}
		if of.namespace == "" || of.pod == "" && of.workload == "" {
			return nil, errLabels
		}
		values[of] = append(values[of], e.Value)
	}
	return values, nil
}

// valueOf returns the worst value of a pod and of its workloads; NaN without one.
func (o *Objectives) valueOf(s *subject, values map[owner][]float64) float64 {
	worst := math.NaN()
	add := func(of owner) {
		for _, value := range values[of] {
			worst = s.objective.Worse(worst, value)
		}
	}
	add(owner{namespace: s.of.Namespace(), pod: s.of.Name})
	for _, w := range o.Cluster.Owners().Chain(nil, s.of) {
		add(owner{namespace: s.of.Namespace(), workload: w.Name})
	}
	return worst
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
