package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/workload-resizer/workload-resizer/agent/kernel"
	"github.com/workload-resizer/workload-resizer/agent/machine"
	"github.com/workload-resizer/workload-resizer/agent/measure"
	"github.com/workload-resizer/workload-resizer/agent/quiet"
)

// Results are the scores of one run.
type Results struct {
	Scores  []measure.Score
	Skipped []measure.Skip
	// OtherLoad is the share of the vCPUs' time that other processes used during the run.
	OtherLoad float64
}

// Node is the node that this process runs on.
type Node struct {
	machine.Machine
	counters quiet.Proc
}

// NewNode returns the node that a root directory describes, which is "/" for this node.
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

// Full measures the node with all vCPUs and with one, within a budget of time. The error is a
// *quiet.Error if the node was busy. Do not trust any results that come with it.
func (n *Node) Full(ctx context.Context, budget time.Duration) (Results, error) {
	return n.undisturbed(ctx, func() (r Results, err error) {
		r.Scores, r.Skipped, err = measure.Full(ctx, kernel.All(), n.limits(), budget)
		return r, err
	})
}

// Spot briefly measures one vCPU. It returns the same errors as Full.
func (n *Node) Spot(ctx context.Context) (Results, error) {
	return n.undisturbed(ctx, func() (r Results, err error) {
		r.Scores, err = measure.Spot(ctx, kernel.Spot(), n.limits(), measure.SpotBudget)
		return r, err
	})
}

func (n *Node) limits() measure.Limits {
	return measure.Limits{CPUs: n.CPUs.List(), Sharing: n.Sharing, Quota: n.Quota, CacheBytes: n.CacheBytes, MemoryBytes: n.MemoryBytes}
}

// undisturbed calls run, and determines how much other processes disturbed it.
func (n *Node) undisturbed(ctx context.Context, run func() (Results, error)) (Results, error) {
	before, err := n.counters.Read()
	if err != nil {
		return Results{}, err
	}
	results, failed := run()
	after, err := n.counters.Read()
	if err != nil {
		return Results{}, errors.Join(failed, fmt.Errorf("check if the node was busy: %w", err))
	}
	var busy error
	results.OtherLoad, busy = quiet.During(before, after, n.Online.Size(), n.ThreadsPerCore > 1)
	if busy != nil && ctx.Err() == nil {
		// This takes precedence over failed: it explains why nothing was measured.
		return results, busy
	}
	return results, failed
}
