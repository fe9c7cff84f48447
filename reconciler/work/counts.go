package work

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/compare"
	"github.com/workload-resizer/workload-resizer/reconciler/objective"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// Config configures Counts. All fields must be set.
type Config struct {
	Cluster *cluster.Cluster
	Query   objective.Query
	// Leads reports whether this process leads.
	Leads func() bool
	Clock clock.WithTicker
}

// Counts knows how much work pods did in the last hour. All methods are safe for concurrent use. Nil knows nothing.
type Counts struct {
	Config

	mu sync.Mutex
	// last is the last hour that was asked about; nil if none was.
	last *hour
	// logged is the last error of each question in the log.
	logged map[question]string
	// failing has a line for each question that failed when it was last asked.
	failing []string
}

// question is a query to a Prometheus.
type question struct{ address, query string }

func questionOf(w *policy.Work) question { return question{w.Prometheus, w.Query} }

// New returns counts of which nothing is known until Run.
func New(config Config) *Counts {
	return &Counts{Config: config, logged: map[question]string{}}
}

const (
	// interval is the time between two rounds.
	interval = 30 * time.Second
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
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.failing) == 0 {
		return nil
	}
	return errors.New(strings.Join(c.failing, "\n"))
}

// Run asks until ctx is done.
func (c *Counts) Run(ctx context.Context) {
	ticker := c.Clock.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
			c.round(ctx)
		}
	}
}

// anyIn reports whether any rule counts work.
func anyIn(table *ratios.Table) bool {
	for _, profile := range table.Profiles() {
		if profile.Work.Counts() {
			return true
		}
	}
	return false
}

// logFault logs why a question failed, unless it failed for the same reason before.
func (c *Counts) logFault(ctx context.Context, q question, text string) {
	c.mu.Lock()
	before := c.logged[q]
	if c.logged[q] = text; text == "" {
		delete(c.logged, q)
	}
	c.mu.Unlock()
	switch text {
	case before:
	case "":
		klog.FromContext(ctx).Info("Work known again", "prometheus", q.address, "query", q.query)
	default:
		klog.FromContext(ctx).Error(nil, "Work not known; hours without it do not count", "prometheus", q.address, "query", q.query, "why", text)
	}
}
