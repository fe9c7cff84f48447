package status

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	grpcstatus "google.golang.org/grpc/status"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/leader"
	"github.com/workload-resizer/workload-resizer/reconciler/loop"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/translate"
	"github.com/workload-resizer/workload-resizer/server/values"
)

// Election reports which replica writes to pods; a leader.Elector implements it.
type Election interface {
	// Leader returns the leader; false if it is not known.
	Leader() (leader.Leader, bool)
}

// Config configures a Service.
type Config struct {
	// Replica is the name of this process among the replicas, and Version is its version.
	Replica, Version string
	Reconciler       *reconciler.Reconciler
	Ratios           *ratios.Store
	Holds            *hold.Store
	// Viewer determines who can see the content of the ConfigMap for holds in problems.
	Viewer access.Viewer
	// Unstorable returns what cannot be stored.
	Unstorable func() error
	// Certificate returns what is wrong with the serving certificate, and CertificateExpires when
	// it expires; zero without TLS.
	Certificate        func() error
	CertificateExpires func() time.Time
	// Creation returns why pods may not be sized at their creation; nil if the server sizes none then.
	Creation func() error
	// Election is nil if there is only this replica.
	Election Election
}

// Service reports the state of this replica.
type Service struct {
	workloadresizerv1.UnimplementedStatusServiceServer
	config Config
	// started is when the replica started.
	started time.Time
}

// New returns the Service of a replica that starts now.
func New(config Config) *Service { return &Service{config: config, started: time.Now()} }

// Register serves the StatusService.
func (s *Service) Register(r grpc.ServiceRegistrar) {
	workloadresizerv1.RegisterStatusServiceServer(r, s)
}

// GetStatus implements workloadresizerv1.StatusServiceServer.
func (s *Service) GetStatus(ctx context.Context, _ *workloadresizerv1.GetStatusRequest) (*workloadresizerv1.GetStatusResponse, error) {
	now, view := s.config.Reconciler.Status(), s.config.Viewer.View(ctx)
	response := &workloadresizerv1.GetStatusResponse{
		Replica: s.config.Replica, Version: s.config.Version, StartTime: values.Timestamp(s.started),
		Leading: s.config.Reconciler.Leads() && !s.config.Reconciler.DryRun, DryRun: s.config.Reconciler.DryRun,
		Problems:    s.problems(view),
		QueueLength: int64(now.Queue), RealignBacklog: int64(now.Backlog), FreedBacklog: int64(now.WithoutRoom),
		SizesAtCreation: s.config.Creation != nil,
	}
	response.Leader = s.leader(response.Leading)
	if table := s.config.Ratios.Table(); table != nil {
		response.RatioRevision = table.Revision
	}
	if holds, err := s.config.Holds.Ready(); err == nil {
		response.Holds = int64(len(holds.All()))
		response.ClusterBreaker, response.NamespaceBreakers, response.WorkloadBreakers = breakers(holds)
		response.EmergencyRestores = int64(holds.Emergencies())
		response.Freeze = translate.Freeze(holds.Freeze())
	}
	for _, count := range now.Pods {
		response.Pods = append(response.Pods, &workloadresizerv1.PodCount{Decision: values.Decision(count.Decision), Code: string(count.Reason), Pods: int64(count.Pods)})
	}
	for _, found := range now.WithoutRatio {
		response.NodeTypesWithoutRatio = append(response.NodeTypesWithoutRatio, &workloadresizerv1.NodeTypeWithoutRatio{NodeType: found.NodeType, Nodes: int64(found.Nodes), Pods: int64(found.Pods)})
	}
	if problem := unaccepted(now.Pods); problem != "" {
		response.Problems = append(response.Problems, problem)
	}
	s.evictions(view, response)
	response.OverloadedNodes = int64(s.config.Reconciler.Overloaded())
	response.CertificateExpireTime = values.Timestamp(s.config.CertificateExpires())
	return response, nil
}

// evictions adds the evictions that the caller may see to a response, and how many are to come.
func (s *Service) evictions(view access.View, response *workloadresizerv1.GetStatusResponse) {
	done, waiting := s.config.Reconciler.Mover.Moved()
	response.EvictionBacklog = int64(waiting)
	var namespaces []string
	for i := range done {
		namespaces = append(namespaces, done[i].Namespace)
	}
	slices.Sort(namespaces)
	visible, err := view.Visible(slices.Compact(namespaces)...)
	if err != nil {
		response.Problems = append(response.Problems, "evictions are missing, because it is not known which ones you may see: "+grpcstatus.Convert(err).Message())
	}
	for i := range done {
		if e := &done[i]; slices.Contains(visible, e.Namespace) {
			response.Evictions = append(response.Evictions, &workloadresizerv1.Eviction{
				Namespace: e.Namespace, Pod: e.Pod, Workload: &workloadresizerv1.Workload{Kind: e.Workload.Kind, Name: e.Workload.Name},
				Node: e.Node, Code: e.Reason, EvictTime: values.Timestamp(e.Last()),
			})
		}
	}
}

// unaccepted says how many pods have a failed write; empty if none has.
func unaccepted(pods []loop.PodCount) string {
	failed := 0
	for _, count := range pods {
		if count.Reason == contract.ResizeFailed {
			failed += count.Pods
		}
	}
	switch failed {
	case 0:
		return ""
	case 1:
		return "1 pod is not resized, because the API server does not accept its size (ResizeFailed): \"resizectl plan -A\" shows why"
	}
	return fmt.Sprintf("%d pods are not resized, because the API server does not accept their sizes (ResizeFailed): \"resizectl plan -A\" shows why", failed)
}

// breakers returns the breaker of the cluster, nil if it is not open, and the numbers of open breakers
// of namespaces and of workloads.
func breakers(holds *hold.Table) (ofCluster *workloadresizerv1.Hold, ofNamespaces, ofWorkloads int64) {
	whole, namespaces, workloads := holds.Breakers()
	if whole == nil {
		return nil, int64(namespaces), int64(workloads)
	}
	return &workloadresizerv1.Hold{
		Kind:   workloadresizerv1.HoldKind_HOLD_KIND_BREAKER,
		Scope:  &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_AllNamespaces{AllNamespaces: &workloadresizerv1.AllNamespaces{}}},
		Reason: whole.Reason, Author: whole.Author, CreateTime: values.Timestamp(whole.Since),
	}, int64(namespaces), int64(workloads)
}

// leader returns the replica that writes to pods, nil if it is not known.
func (s *Service) leader(leading bool) *workloadresizerv1.Leader {
	if s.config.Election == nil {
		if !leading {
			return nil
		}
		return &workloadresizerv1.Leader{Identity: s.config.Replica, AcquireTime: values.Timestamp(s.started)}
	}
	l, known := s.config.Election.Leader()
	if !known {
		return nil
	}
	return &workloadresizerv1.Leader{Identity: l.Identity, AcquireTime: values.Timestamp(l.Acquired), RenewTime: values.Timestamp(l.Renewed)}
}

// problems returns what is missing or wrong, without duplicates, as the caller may read it.
func (s *Service) problems(view access.View) []string {
	ready := s.config.Reconciler.Ready()
	if notReady := (*cluster.NotReadyError)(nil); errors.As(ready, &notReady) {
		ready = notReady.Err
	}
	holds := s.config.Holds.Err()
	quoted := translate.HoldsError(view, holds)
	var problems []string
	for _, err := range [...]error{ready, s.config.Ratios.Problem(), s.config.Ratios.ImplausibleRatios(), quoted, s.config.Holds.FreezeErr(), s.config.Unstorable(), s.config.Certificate(), s.creation(), s.config.Reconciler.UnknownOwners(), s.config.Reconciler.UnknownObjectives(), s.config.Reconciler.UnknownWork(), s.config.Reconciler.EvictionProblem(), s.leaderless()} {
		if err == nil {
			continue
		}
		// Joined errors have one line each.
		for line := range strings.Lines(err.Error()) {
			problem := strings.TrimSuffix(line, "\n")
			if holds != nil && problem == holds.Error() {
				problem = quoted.Error() // The server is not ready for the same reason.
			}
			if !slices.Contains(problems, problem) {
				problems = append(problems, problem)
			}
		}
	}
	return problems
}

// creation returns why pods may not be sized at their creation.
func (s *Service) creation() error {
	if s.config.Creation == nil {
		return nil
	}
	return s.config.Creation()
}

// leaderless returns an error while no replica is known to lead.
func (s *Service) leaderless() error {
	if s.config.Election == nil {
		return nil
	}
	if _, known := s.config.Election.Leader(); !known {
		return errors.New("no leader is known, so no pods are resized; if this persists, see the log")
	}
	return nil
}
