package plans

import (
	"time"

	"google.golang.org/grpc"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/limits"
)

// Config is what a Service is made of.
type Config struct {
	Ratios *ratios.Store
	// Reconciler is nil where there is no cluster.
	Reconciler *reconciler.Reconciler
	// Planner plans what is not in the cluster; the error is that it cannot yet.
	Planner func() (*plan.Planner, error)
	// Viewer tells what callers see.
	Viewer access.Viewer
	// Slots bound what is planned at once.
	Slots *limits.Slots
}

// Service plans for callers.
type Service struct {
	workloadresizerv1.UnimplementedPlanServiceServer
	config Config
	now    func() time.Time
}

// New returns a Service.
func New(config Config) *Service { return &Service{config: config, now: time.Now} }

// Register serves the PlanService.
func (s *Service) Register(r grpc.ServiceRegistrar) {
	workloadresizerv1.RegisterPlanServiceServer(r, s)
}
