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
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// Measurer measures the node; *Node is one.
type Measurer interface {
	Full(context.Context) (Results, error)
	Spot(context.Context) (Results, error)
}

// Config is what an Agent is made of.
type Config struct {
	// Node is what the node is called.
	Node string
	// NodeType is what ratios call it; empty where whoever gets the samples knows.
	NodeType string
	// Machine is what it is.
	Machine machine.Machine
	// Measure measures it.
	Measure Measurer
	// Deliver brings samples where they are to go; an error that
	// deliver.Rejected tells is final.
	Deliver func(context.Context, []sample.Sample) error
	// Summary is told what was measured, for people.
	Summary io.Writer
	// MemoryFile keeps what an agent that stays has to know after a restart;
	// empty for nothing.
	MemoryFile string
}

// Agent measures one node.
type Agent struct {
	config  Config
	memory  memory
	pending []sample.Sample
}

// New returns an agent.
func New(c Config) *Agent { return &Agent{config: c} }

// Once measures the node with all kernels, and delivers the samples. The error is a
// *quiet.Error if the node was busy.
func (a *Agent) Once(ctx context.Context) error {
	a.describe()
	return a.run(ctx, true)
}

const (
	// startSpread and periodShare spread the runs of many nodes that were started
	// together, the latter as a share of the period.
	startSpread = time.Minute
	periodShare = 0.1
	// firstRetry is the pause before what did not work is tried again; it doubles
	// up to the period.
	firstRetry = 10 * time.Minute
)

// Stay measures the node with all kernels now, unless it remembers that it did, and
// then once in a period shortly one vCPU. If that differs from the last full run, or
// that was long ago, the next is full again. It returns nil when ctx is done.
func (a *Agent) Stay(ctx context.Context, period time.Duration) error {
	a.describe()
	if a.config.MemoryFile != "" {
		var err error
		if a.memory, err = load(a.config.MemoryFile); err != nil {
			a.say("%v", err)
		}
	}
	pause := rand.N(startSpread)
	if a.memory.Version == kernel.Version() {
		pause += max(time.Until(a.memory.Last.Add(period)), 0)
	}
	retry := retries(period)
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
		case err == nil, deliver.Rejected(err):
			if err != nil {
				a.say("%v", err)
			}
			retry = retries(period)
			pause = period + rand.N(time.Duration(periodShare*float64(period))+1)
		default:
			pause = retry.Step()
			a.say("%v; next try in %v", err, pause.Round(time.Second))
		}
	}
}

func retries(period time.Duration) wait.Backoff {
	return wait.Backoff{Duration: min(firstRetry, period), Factor: 2, Jitter: 1, Steps: 100, Cap: period}
}

// step delivers what is left of the run before, or runs once more. Nothing is
// measured again because it could not be delivered.
func (a *Agent) step(ctx context.Context) error {
	if len(a.pending) > 0 {
		return a.deliver(ctx)
	}
	return a.run(ctx, a.memory.wantsFull())
}

func (a *Agent) run(ctx context.Context, full bool) error {
	measure := a.config.Measure.Spot
	if full {
		measure = a.config.Measure.Full
	}
	began := time.Now()
	results, err := measure(ctx)
	if len(results.Scores) > 0 {
		a.summarize(results, full)
	}
	if err != nil {
		return fmt.Errorf("nothing was measured that counts: %w", err)
	}
	a.memory.learn(began, full, results.Scores)
	if a.memory.Doubted {
		a.say("this differs by more than %.0f %% from the last full run: the next one is full", 100*tolerance)
	}
	a.pending = samplesOf(a.config.Node, a.config.NodeType, &a.config.Machine, began, results.Scores)
	return a.deliver(ctx)
}

func (a *Agent) deliver(ctx context.Context) error {
	err := a.config.Deliver(ctx, a.pending)
	if err != nil && !deliver.Rejected(err) {
		return err
	}
	a.pending = nil
	// Not before: what was not delivered is measured again after a restart.
	if err := a.memory.save(a.config.MemoryFile); err != nil {
		a.say("%v", err)
	}
	return err
}
