package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"time"

	"k8s.io/client-go/rest"

	"github.com/workload-resizer/workload-resizer/client"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// changer changes the ratios: in turn, it changes the ConfigMap, sets an override through
// the API, and deletes the override.
type changer struct {
	config  *rest.Config
	history *history
	// api returns a client for any ready replica.
	api func() (*client.Client, error)

	cpu, memory map[string]string
	turns       int
}

func newChanger(config *rest.Config, h *history, api func() (*client.Client, error)) *changer {
	c := &changer{config: config, history: h, api: api, cpu: map[string]string{}, memory: map[string]string{}}
	for _, nodeType := range nodeTypes {
		c.cpu[nodeType], c.memory[nodeType] = "1", "1"
	}
	return c
}

// random returns a random performance between low and high hundredths. Two calls rarely
// return the same one.
func random(low, high int) string {
	return big.NewRat(int64(low+rand.IntN(high-low)), 100).FloatString(2)
}

// configure writes the ConfigMap with new performances of all types except the baseline.
func (c *changer) configure(ctx context.Context) error {
	set := map[string]ratio{}
	for i, nodeType := range nodeTypes {
		if i > 0 {
			c.cpu[nodeType], c.memory[nodeType] = random(80, 220), random(90, 130)
		}
		set[nodeType] = decimal(c.cpu[nodeType], c.memory[nodeType])
	}
	return c.set(ctx, set, func(ctx context.Context) error {
		return localcluster.Apply(ctx, c.config, configuration(c.cpu, c.memory))
	})
}

// change makes the next change.
func (c *changer) change(ctx context.Context) error {
	const overridden = "c3"
	c.turns++
	switch c.turns % 3 {
	case 1:
		cpu, memory := random(80, 220), random(90, 130)
		r := decimal(cpu, memory)
		return c.set(ctx, map[string]ratio{overridden: r}, func(ctx context.Context) error {
			api, err := c.api()
			if err != nil {
				return err
			}
			cpuPerf, _ := r.cpu.Float64()
			memoryPerf, _ := r.memory.Float64()
			_, err = api.Overrides().UpdateOverride(ctx, &workloadresizerv1.UpdateOverrideRequest{
				Override: &workloadresizerv1.Override{NodeType: overridden, CpuPerf: &cpuPerf, MemoryPerf: &memoryPerf}, AllowMissing: true,
			})
			return err
		})
	case 2:
		r := decimal(c.cpu[overridden], c.memory[overridden])
		return c.set(ctx, map[string]ratio{overridden: r}, func(ctx context.Context) error {
			api, err := c.api()
			if err != nil {
				return err
			}
			_, err = api.Overrides().DeleteOverride(ctx, &workloadresizerv1.DeleteOverrideRequest{NodeType: overridden, AllowMissing: true})
			return err
		})
	}
	return c.configure(ctx)
}

// set tries a change until it succeeds: the API server or the replica may be down.
func (c *changer) set(ctx context.Context, set map[string]ratio, change func(context.Context) error) error {
	c.history.begin(set)
	defer c.history.done(set)
	return patiently(ctx, "change the ratios", func() error {
		once, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		return change(once)
	})
}

// patience is how long an operation may take that must succeed eventually.
const patience = 3 * time.Minute

// patiently calls try until it returns nil, for at most patience.
func patiently(ctx context.Context, what string, try func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, errors.Join(ctx.Err(), err))
		}
	}
}
