package resizes

import (
	"context"

	"google.golang.org/grpc"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/streams"
)

// Config configures a Service.
type Config struct {
	Reconciler *reconciler.Reconciler
	// Viewer determines what callers can see.
	Viewer  access.Viewer
	Watches *streams.Watches
	// Restorer and Replica implement the methods that they have.
	Restorer Restorer
	Replica  Replica
}

// Restorer restores pods to their originals; a holds.Service implements it.
type Restorer interface {
	Restore(context.Context, *workloadresizerv1.RestoreRequest) (*workloadresizerv1.RestoreResponse, error)
}

// Replica returns the status of this process among the replicas; a status.Service implements
// it.
type Replica interface {
	GetStatus(context.Context, *workloadresizerv1.GetStatusRequest) (*workloadresizerv1.GetStatusResponse, error)
}

// Service returns how pods were sized.
type Service struct {
	workloadresizerv1.UnimplementedResizeServiceServer
	config  Config
	history *history
}

// New returns a Service. The reconciler must not run yet.
func New(config Config) *Service {
	return &Service{config: config, history: follow(config.Reconciler)}
}

// Register serves the ResizeService.
func (s *Service) Register(r grpc.ServiceRegistrar) {
	workloadresizerv1.RegisterResizeServiceServer(r, s)
}

// Restore implements workloadresizerv1.ResizeServiceServer.
func (s *Service) Restore(ctx context.Context, request *workloadresizerv1.RestoreRequest) (*workloadresizerv1.RestoreResponse, error) {
	return s.config.Restorer.Restore(ctx, request)
}

// GetStatus implements workloadresizerv1.ResizeServiceServer.
func (s *Service) GetStatus(ctx context.Context, request *workloadresizerv1.GetStatusRequest) (*workloadresizerv1.GetStatusResponse, error) {
	return s.config.Replica.GetStatus(ctx, request)
}
