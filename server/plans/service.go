package plans

import (
	"time"

	"google.golang.org/grpc"
	"k8s.io/apimachinery/pkg/runtime/schema"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/limits"
	"github.com/workload-resizer/workload-resizer/server/manifests"
)

// Config configures a Service.
type Config struct {
	Ratios *ratios.Store
	// Production has the ratios that production shows; nil without that source.
	Production manifests.Production
	// Reconciler is nil for a standalone server.
	Reconciler *reconciler.Reconciler
	// Planner returns the planner for pods that are not in the cluster, or an error while
	// there is none.
	Planner func() (*plan.Planner, error)
	// WorkloadKinds are the kinds of owners of controllers, whose manifests are planned.
	WorkloadKinds []schema.GroupResource
	// Viewer determines what callers can see.
	Viewer access.Viewer
	// Slots limits how much is planned at the same time, and Receiving how many manifests are
	// received at the same time.
	Slots     *limits.Slots
	Receiving *limits.Receiving
}

// Service plans pods for callers.
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
