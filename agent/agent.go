package agent

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/workload-resizer/workload-resizer/agent/deliver"
	"github.com/workload-resizer/workload-resizer/agent/kernel"
	"github.com/workload-resizer/workload-resizer/agent/machine"
	"github.com/workload-resizer/workload-resizer/agent/measure"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// Measurer measures the node. *Node implements it.
type Measurer interface {
	// Full measures all vCPUs within a budget of time.
	Full(ctx context.Context, budget time.Duration) (Results, error)
	Spot(context.Context) (Results, error)
}

// Config configures an Agent.
type Config struct {
	// Node is the name of the node.
	Node string
	// NodeType is the node's type as ratios name it; empty if the receiver of the samples
	// knows it.
	NodeType string
	// Machine describes the node.
	Machine machine.Machine
	// Measure measures the node.
	Measure Measurer
	// Claim asks whether Stay should measure the node, nil to always measure it. It returns
	// when the node lets pods in at the latest; zero if it does so now. An error for which
	// deliver.Declined returns true means that the node should not be measured.
	Claim func(context.Context) (release time.Time, err error)
	// Deliver sends samples to their destination. An error for which deliver.Rejected
	// returns true is final.
	Deliver func(context.Context, []sample.Sample) error
	// Summary receives a human-readable summary of each run.
	Summary io.Writer
	// MemoryFile holds what Stay needs to know after a restart; empty to keep nothing.
	MemoryFile string
}

// Agent measures one node.
type Agent struct {
	config  Config
	memory  memory
	pending []sample.Sample
	// spread is whether the start of the first run was spread.
	spread bool
}

// New returns an agent.
func New(c Config) *Agent { return &Agent{config: c} }

// Once measures the node with all kernels, and delivers the samples. The error is a
// *quiet.Error if the node was too busy.
func (a *Agent) Once(ctx context.Context) error {
	a.describe()
	return a.run(ctx, true, measure.Budget)
}

const (
	// startSpread and periodShare spread the runs of nodes that start at the same time.
	// periodShare is a share of the period.
	startSpread = time.Minute
	periodShare = 0.1
	// firstRetry is the delay before the first retry. It doubles up to the period.
	firstRetry = 10 * time.Minute
	// firstRetryShared is the same if vCPUs share cores. Such a node is measured only in its
	// first 10 minutes.
	firstRetryShared = time.Minute
)

// Stay measures the node with all kernels now, unless its memory file records a recent run.
// After that, it runs a short spot check of one vCPU once per period. If a spot check differs
// from the last full run, or that run is too old, the next run is full again. Before each run,
// it claims the measurement. If the claim is declined, it does nothing until the next period.
// Stay returns nil when ctx is done.
func (a *Agent) Stay(ctx context.Context, period time.Duration) error {
	a.describe()
	if a.config.MemoryFile != "" {
		var err error
		if a.memory, err = load(a.config.MemoryFile); err != nil {
			a.say("%v", err)
		}
	}
	pause := time.Duration(0)
	if a.memory.Version == kernel.Version() {
		pause = max(time.Until(a.memory.Last.Add(period)), 0)
	}
	retry := a.retries(period)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		err := a.step(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil, deliver.Rejected(err), deliver.Declined(err):
			if err != nil {
				a.say("%v", err)
			}
			retry = a.retries(period)
			pause = period + rand.N(time.Duration(periodShare*float64(period))+1)
		default:
			pause = retry.Step()
			a.say("%v; retrying in %v", err, pause.Round(time.Second))
		}
	}
}

func (a *Agent) retries(period time.Duration) wait.Backoff {
	first := firstRetry
	if a.config.Machine.ThreadsPerCore > 1 {
		first = firstRetryShared
	}
	return wait.Backoff{Duration: min(first, period), Factor: 2, Jitter: 1, Steps: 100, Cap: period}
}

// step delivers the pending samples of the previous run, or starts a new run. A failed
// delivery does not cause a new measurement.
func (a *Agent) step(ctx context.Context) error {
	if len(a.pending) > 0 {
		return a.deliver(ctx)
	}
	var release time.Time
	if a.config.Claim != nil {
		var err error
		if release, err = a.config.Claim(ctx); err != nil {
			return err
		}
	}
	budget := before(release)
	if budget == 0 {
		if err := a.spreadStart(ctx); err != nil {
			return err
		}
		budget = measure.Budget
	}
	err := a.run(ctx, a.memory.wantsFull(), budget)
	for err != nil && len(a.pending) == 0 && !deliver.Rejected(err) {
		// There is no better time: pods disturb later runs, and if vCPUs share cores, there is
		// no later run.
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(againAfter):
		}
		if budget = before(release); budget == 0 {
			break
		}
		a.say("%v; measuring again before pods arrive", err)
		err = a.run(ctx, a.memory.wantsFull(), budget)
	}
	return err
}

// before returns how much time a run may take if it is to end before pods arrive; 0 if too little
// is left.
func before(release time.Time) time.Duration {
	left := time.Until(release.Add(-deliveryTime))
	if release.IsZero() || left < leastBudget {
		return 0
	}
	return min(left, measure.Budget)
}

const (
	// leastBudget is how much time a full run needs at least. If the node keeps pods out for a
	// shorter time, the run takes as long as it does next to pods.
	leastBudget = 5 * time.Second
	// deliveryTime is how long before pods arrive a run ends.
	deliveryTime = time.Second
	// againAfter is the delay after a run that failed while pods wait.
	againAfter = time.Second
)

// spreadStart waits before the first run, unless pods wait for it.
func (a *Agent) spreadStart(ctx context.Context) error {
	if a.spread {
		return nil
	}
	a.spread = true
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(rand.N(startSpread)):
		return nil
	}
}

func (a *Agent) run(ctx context.Context, full bool, budget time.Duration) error {
	run := a.config.Measure.Spot
	if full {
		run = func(ctx context.Context) (Results, error) { return a.config.Measure.Full(ctx, budget) }
	}
	began := time.Now()
	results, err := run(ctx)
	if len(results.Scores) > 0 {
		a.summarize(results, full)
	}
	if err != nil {
		return fmt.Errorf("no valid measurement: %w", err)
	}
	a.memory.learn(began, full, results.Scores)
	if a.memory.Doubted {
		a.say("scores differ by more than %.0f%% from the last full run: the next run is a full one", 100*tolerance)
	}
	a.pending = samplesOf(a.config.Node, a.config.NodeType, &a.config.Machine, began, results)
	return a.deliver(ctx)
}

func (a *Agent) deliver(ctx context.Context) error {
	err := a.config.Deliver(ctx, a.pending)
	if err != nil && !deliver.Rejected(err) {
		return err
	}
	a.pending = nil
	// Not earlier: samples that were not delivered must be measured again after a restart.
	if err := a.memory.save(a.config.MemoryFile); err != nil {
		a.say("%v", err)
	}
	return err
}
