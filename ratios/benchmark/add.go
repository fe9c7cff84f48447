package benchmark

import (
	"cmp"
	"context"
	"fmt"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/samples"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

// Add keeps valid samples, as samples.Store does. It fills in the node types that
// only have an instance type.
func (p *Provider) Add(ctx context.Context, add []sample.Sample) ([]samples.Outcome, error) {
	return p.samples.Add(ctx, p.typed(add))
}

// Preview returns what would become of samples if they were added now.
func (p *Provider) Preview(add []sample.Sample) ([]samples.Outcome, error) {
	return p.samples.Preview(p.typed(add))
}

func (p *Provider) typed(add []sample.Sample) []sample.Sample {
	typed := make([]sample.Sample, len(add))
	for i, s := range add {
		if s.NodeType == "" {
			s.NodeType = p.NodeType(s.InstanceType)
		}
		typed[i] = s
	}
	return typed
}

// NodeType returns what the machines of an instance type are called by in ratios:
// the instance type itself if the table names that, else its family.
func (p *Provider) NodeType(instanceType string) string {
	if p.others != nil {
		if table := p.others.Table(); table != nil && table.Knows(instanceType) {
			return instanceType
		}
	}
	return cmp.Or(nodetype.Family(instanceType), instanceType)
}

// deliver takes over what a feed says.
func (p *Provider) deliver(ctx context.Context, feed string, read []sample.Sample) error {
	// Types are called otherwise once a table names them, and what is kept stays.
	if p.others != nil && p.others.Table() == nil {
		return fmt.Errorf("keep the samples of feed %s: no table of ratios is known yet that tells what their node types are called", feed)
	}
	now := p.config.Clock.Now()
	good := make([]sample.Sample, 0, len(read))
	for _, s := range read {
		s.NodeType = cmp.Or(s.NodeType, p.NodeType(s.InstanceType))
		s.Source = cmp.Or(s.Source, feed)
		// A feed checks what it reads, but not what its types are called by.
		if len(s.Validate(now)) == 0 {
			good = append(good, s)
		}
	}
	if _, err := p.samples.Add(ctx, good); err != nil {
		return fmt.Errorf("keep the samples of feed %s: %w", feed, err)
	}
	return nil
}
