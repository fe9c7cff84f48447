package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/workload-resizer/workload-resizer/agent/kernel"
	"github.com/workload-resizer/workload-resizer/agent/machine"
	"github.com/workload-resizer/workload-resizer/agent/measure"
	"github.com/workload-resizer/workload-resizer/agent/quiet"
)

// Results are what a node has got done, all of it in one run.
type Results struct {
	Scores  []measure.Score
	Skipped []measure.Skip
}

// Node is the node that this process runs on.
type Node struct {
	machine.Machine
	counters quiet.Proc
}

// NewNode looks at the node as its root directory shows it, "/".
func NewNode(root string) (*Node, error) {
	m, err := machine.Read(os.DirFS(root))
	if err != nil {
		return nil, err
	}
	counters, err := quiet.NewProc(filepath.Join(root, "proc"))
	if err != nil {
		return nil, err
	}
	return &Node{m, counters}, nil
}

// Full measures the node with all vCPUs and one. The error is a *quiet.Error if the
// node was busy; then the results, if there are any, are not to be trusted.
func (n *Node) Full(ctx context.Context) (Results, error) {
	return n.undisturbed(ctx, func() (r Results, err error) {
		r.Scores, r.Skipped, err = measure.Full(ctx, kernel.All(), n.limits(), measure.Budget)
		return r, err
	})
}

// Spot measures one vCPU shortly; errors are as of Full.
func (n *Node) Spot(ctx context.Context) (Results, error) {
	return n.undisturbed(ctx, func() (r Results, err error) {
		r.Scores, err = measure.Spot(ctx, kernel.Spot(), n.limits(), measure.SpotBudget)
		return r, err
	})
}

func (n *Node) limits() measure.Limits {
	return measure.Limits{CPUs: n.CPUs.List(), Sharing: n.Sharing, Quota: n.Quota, CacheBytes: n.CacheBytes, MemoryBytes: n.MemoryBytes}
}

// undisturbed measures between two looks at what others do.
func (n *Node) undisturbed(ctx context.Context, run func() (Results, error)) (Results, error) {
	pressure, err := n.counters.Pressure()
	if err == nil {
		err = quiet.Before(pressure)
	}
	if err != nil {
		return Results{}, err
	}
	before, err := n.counters.Read()
	if err != nil {
		return Results{}, err
	}
	results, failed := run()
	after, err := n.counters.Read()
	if err != nil {
		return Results{}, errors.Join(failed, fmt.Errorf("tell whether the node was busy: %w", err))
	}
	if busy := quiet.During(before, after, n.Online.Size()); busy != nil && ctx.Err() == nil {
		// That is why, if so little was done that nothing was measured.
		return results, busy
	}
	return results, failed
}
