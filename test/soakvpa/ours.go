package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	metrics "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"

	"github.com/workload-resizer/workload-resizer/test/feeder"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/metricsapi"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// ours is our recommender with the VPA's rules.
type ours struct {
	feeder *feeder.Feeder
	source *counting
	store  *usage.Store
	began  time.Time
}

// counting is a source that counts the samples of CPU.
type counting struct {
	usage.Source
	// seen has the samples, which are read several times.
	seen map[usage.Sample]bool
}

// Read implements usage.Source.
func (c *counting) Read(ctx context.Context, since, until time.Time, observe func(usage.Sample)) error {
	return c.Source.Read(ctx, since, until, func(s usage.Sample) {
		if s.Resource == history.CPU {
			c.seen[s] = true
		}
		observe(s)
	})
}

// samples returns the number of samples of CPU of a workload.
func (o *ours) samples(workload string) (n int) {
	for s := range o.source.seen {
		if strings.HasPrefix(s.Name, workload+"-") {
			n++
		}
	}
	return n
}

// newOurs returns a recommender without history.
func newOurs(config *rest.Config) (*ours, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	measured, err := metrics.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	collect, options := history.DefaultOptions(), recommend.CompatOptions()
	collect.Compat, collect.CPUHalfLife, collect.MemoryHalfLife, collect.Interval = true, halfLife, halfLife, halfLife
	options.Floor = recommend.Amounts{CPU: 1, Memory: 1 << 20}
	o := &ours{feeder: &feeder.Feeder{Client: client, Namespace: namespace}, began: time.Now()}
	o.source = &counting{
		Source: &metricsapi.Source{Client: measured, Namespaces: func() []string { return []string{namespace} }},
		seen:   map[usage.Sample]bool{},
	}
	o.store = usage.New(o.feeder.Lookup, func(history.Container) usage.Options {
		return usage.Options{History: collect, Recommend: options, Containers: 1}
	}, o.source.Name())
	return o, nil
}

// targets reads what is new and returns the targets, by the name of the workload. A source that is
// down changes nothing.
func (o *ours) targets(ctx context.Context) (map[string]recommend.Amounts, error) {
	if err := o.feeder.Refresh(ctx); err != nil {
		return nil, err
	}
	now := time.Now()
	down := o.store.Collect(ctx, o.source, o.began, now)
	if err := o.feeder.Kill(o.store, now); err != nil {
		return nil, err
	}
	table := o.store.Publish(feeder.Everywhere("all", recommend.Uniform), now)
	targets := map[string]recommend.Amounts{}
	for _, w := range workloads {
		c := history.Container{Namespace: namespace, Kind: "Deployment", Workload: w.name, Name: "main"}
		if r, known := table.Demand(usage.Key{Container: c, Ratios: "all"}); known {
			targets[w.name] = r.Target
		}
	}
	if down != nil {
		return targets, fmt.Errorf("collect: %w", down)
	}
	return targets, nil
}
