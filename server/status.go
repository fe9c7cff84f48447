package server

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/leader"
	"github.com/workload-resizer/workload-resizer/server/translate"
)

// Election tells which replica writes to pods; a leader.Elector does.
type Election interface {
	// Leader returns the one that does; false if that is not known.
	Leader() (leader.Leader, bool)
}

// replica is this process among those that watch the cluster.
type replica struct {
	name, version string
	// started is since when it is there.
	started    time.Time
	reconciler *reconciler.Reconciler
	ratios     *ratios.Store
	holds      *hold.Store
	// unstorable says what cannot be stored.
	unstorable func() error
	// election is nil if there is only this replica.
	election Election
}

func newReplica(config *Config) replica {
	return replica{
		name: config.Replica, version: config.Version, started: time.Now(),
		reconciler: config.Reconciler, ratios: config.Ratios, holds: config.Holds, unstorable: config.unstorable, election: config.Election,
	}
}

// GetStatus tells how this replica does, and which one leads.
func (s *resizeService) GetStatus(context.Context, *workloadresizerv1.GetStatusRequest) (*workloadresizerv1.GetStatusResponse, error) {
	return s.replica.status(), nil
}

func (r *replica) status() *workloadresizerv1.GetStatusResponse {
	now := r.reconciler.Status()
	response := &workloadresizerv1.GetStatusResponse{
		Replica: r.name, Version: r.version, StartTime: translate.Timestamp(r.started),
		Leading: r.reconciler.Leads() && !r.reconciler.DryRun, DryRun: r.reconciler.DryRun,
		Problems:    r.problems(),
		QueueLength: int64(now.Queue), RealignBacklog: int64(now.Backlog),
	}
	response.Leader = r.leader(response.Leading)
	if table := r.ratios.Table(); table != nil {
		response.RatioRevision = table.Revision
	}
	if holds, err := r.holds.Ready(); err == nil {
		response.Holds = int64(len(holds.All()))
	}
	for _, count := range now.Pods {
		response.Pods = append(response.Pods, &workloadresizerv1.PodCount{Decision: translate.Decision(count.Decision), Code: string(count.Reason), Pods: int64(count.Pods)})
	}
	return response
}

// leader is the replica that writes to pods, nil if that is not known.
func (r *replica) leader(leading bool) *workloadresizerv1.Leader {
	if r.election == nil {
		if !leading {
			return nil
		}
		return &workloadresizerv1.Leader{Identity: r.name, AcquireTime: translate.Timestamp(r.started)}
	}
	l, known := r.election.Leader()
	if !known {
		return nil
	}
	return &workloadresizerv1.Leader{Identity: l.Identity, AcquireTime: translate.Timestamp(l.Acquired), RenewTime: translate.Timestamp(l.Renewed)}
}

// problems is what is missing or wrong, each once.
func (r *replica) problems() []string {
	ready := r.reconciler.Ready()
	if notReady := (*reconciler.NotReadyError)(nil); errors.As(ready, &notReady) {
		ready = notReady.Err
	}
	var problems []string
	for _, err := range [...]error{ready, r.ratios.Problem(), r.holds.Err(), r.unstorable(), r.reconciler.UnknownOwners(), r.leaderless()} {
		if err == nil {
			continue
		}
		// Errors that are joined have a line each.
		for line := range strings.Lines(err.Error()) {
			if problem := strings.TrimSuffix(line, "\n"); !slices.Contains(problems, problem) {
				problems = append(problems, problem)
			}
		}
	}
	return problems
}

// leaderless is an error while no replica is known to lead.
func (r *replica) leaderless() error {
	if r.election == nil {
		return nil
	}
	if _, known := r.election.Leader(); !known {
		return errors.New("no replica is known to lead, so nothing is resized; the log says why if that lasts")
	}
	return nil
}
