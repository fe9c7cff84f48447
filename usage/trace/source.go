package trace

import (
	"context"
	"time"

	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// Source is a trace as a source of usage. Each machine is a pod with the container "machine".
type Source struct {
	// Namespace is the namespace of the pods.
	Namespace string
	Machines  []*Machine
}

// Name implements usage.Source.
func (s *Source) Name() string { return "trace" }

// Read implements usage.Source. Of several rows of a machine with the same time, the first counts.
func (s *Source) Read(ctx context.Context, since, until time.Time, observe func(usage.Sample)) error {
	for _, m := range s.Machines {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i, row := range m.Rows {
			at := time.Unix(row.At, 0).UTC()
			if !at.After(since) || at.After(until) || i > 0 && m.Rows[i-1].At == row.At {
				continue
			}
			sample := usage.Sample{Namespace: s.Namespace, Name: m.Name, Container: "machine"}
			sample.Resource, sample.At, sample.Usage = history.CPU, at, row.CPU
			sample.Pressure, sample.Throttled = float64(row.Pressure), row.Throttled
			if i > 0 {
				sample.Length = time.Duration(row.At-m.Rows[i-1].At) * time.Second
			}
			observe(sample)
			sample.Resource, sample.Usage, sample.Length = history.Memory, row.Memory, 0
			sample.Pressure, sample.Throttled = 0, false
			observe(sample)
		}
	}
	return nil
}
