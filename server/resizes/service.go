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
}

// Service returns how pods were sized.
type Service struct {
	workloadresizerv1.UnimplementedResizeServiceServer
	config  Config
	history *history
}

// New returns a Service. The reconciler must not run yet. Watches can continue here from when
// Run has begun and the reconciler has read the pods.
func New(config Config) *Service {
	return &Service{config: config, history: follow(config.Reconciler)}
}

// Register serves the ResizeService.
func (s *Service) Register(r grpc.ServiceRegistrar) {
	workloadresizerv1.RegisterResizeServiceServer(r, s)
}

// Run follows the resizes until ctx is done.
func (s *Service) Run(ctx context.Context) { s.history.run(ctx) }
