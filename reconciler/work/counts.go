package work

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/compare"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/promql"
)

// Config configures Counts. All fields must be set.
type Config struct {
	Cluster *cluster.Cluster
	Query   promql.Query
	// Leads reports whether this process leads.
	Leads func() bool
	Clock clock.WithTicker
}

// Counts knows how much work pods did in the last hour. All methods are safe for concurrent use. Nil knows nothing.
type Counts struct {
	Config
	asker *promql.Asker

	mu sync.Mutex
	// last is the last hour that was asked about; nil if none was.
	last *hour
}

func questionOf(w *policy.Work) promql.Question {
	return promql.Question{Address: w.Prometheus, Query: w.Query}
}

// New returns counts of which nothing is known until Run.
func New(config Config) *Counts {
	return &Counts{Config: config, asker: promql.New(promql.Config{
		Query: config.Query, Clock: config.Clock, Patience: patience, Busy: errBusy, Labels: "namespace and pod",
		Subject: "Work", Consequence: "hours of its pods do not count for ratios from production",
	})}
}

const (
	// settled is how long after an hour its last measurements have arrived at Prometheus.
	settled = 2 * time.Minute
	// over is how long after an hour the last query may begin: what was not answered then would be late.
	over = compare.Late - time.Minute
	// patience is how long an answer may take.
	patience = 10 * time.Second
)

// Of returns how much work a pod did in an hour, in hours since 1970, by what counts it; 0 if that is not known.
func (c *Counts) Of(of *pod.Pod, by *policy.Work, number int64) float64 {
	if c == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil || c.last.number != number {
		return 0
	}
	return c.last.of(of, questionOf(by))
}

// Problem returns an error with a line for each query that failed when it was last asked; nil if none did.
func (c *Counts) Problem() error {
	if c == nil {
		return nil
	}
	return c.asker.Problem()
}

// Run asks until ctx is done.
func (c *Counts) Run(ctx context.Context) { c.asker.Run(ctx, c.round) }

// anyIn reports whether any rule counts work.
func anyIn(table *ratios.Table) bool {
	return slices.ContainsFunc(table.Profiles(), func(p *ratios.Profile) bool { return p.Work.Counts() })
}
