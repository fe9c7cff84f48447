package resizes

import (
	"context"

	"google.golang.org/grpc"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/streams"
)

// Config is what a Service is made of.
type Config struct {
	Reconciler *reconciler.Reconciler
	// Viewer tells what callers see.
	Viewer  access.Viewer
	Watches *streams.Watches
	// Restorer and Replica answer the methods that they have.
	Restorer Restorer
	Replica  Replica
}

// Restorer gives pods their originals back; a holds.Service does.
type Restorer interface {
	Restore(context.Context, *workloadresizerv1.RestoreRequest) (*workloadresizerv1.RestoreResponse, error)
}

// Replica is this process among those that watch the cluster; a status.Service tells
// of it.
type Replica interface {
	GetStatus(context.Context, *workloadresizerv1.GetStatusRequest) (*workloadresizerv1.GetStatusResponse, error)
}

// Service tells what was done to pods.
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

// Restore implements the ResizeService.
func (s *Service) Restore(ctx context.Context, request *workloadresizerv1.RestoreRequest) (*workloadresizerv1.RestoreResponse, error) {
	return s.config.Restorer.Restore(ctx, request)
}

// GetStatus implements the ResizeService.
func (s *Service) GetStatus(ctx context.Context, request *workloadresizerv1.GetStatusRequest) (*workloadresizerv1.GetStatusResponse, error) {
	return s.config.Replica.GetStatus(ctx, request)
}
