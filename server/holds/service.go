package holds

import (
	"context"

	"google.golang.org/grpc"
	"k8s.io/apimachinery/pkg/types"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/server/access"
)

// Config is what a Service is made of.
type Config struct {
	// Store keeps the holds.
	Store *hold.Store
	// Pods are those that there are; a reconciler.Reconciler knows them.
	Pods Pods
	// Viewer tells what callers see, Rights what they may do; an access.Access both.
	Viewer access.Viewer
	Rights Rights
}

// Pods knows the pods that there are now. Its errors are those of a preview.
type Pods interface {
	UID(types.NamespacedName) (types.UID, error)
	// Workloads are those of a pod, the narrowest first, as far as they are
	// known.
	Workloads(types.NamespacedName) []safety.Workload
	// Count counts those of a namespace, of all if it is empty.
	Count(namespace string) (int, error)
	// CountOf counts those of a workload.
	CountOf(namespace string, workload safety.Workload) (int, error)
}

// Rights tells what callers may do. The error is that they may not, or that it is not
// known.
type Rights interface {
	Require(ctx context.Context, right access.Right, namespace string) error
}

// Service keeps holds.
type Service struct {
	workloadresizerv1.UnimplementedPauseServiceServer
	config Config
}

// New returns a Service.
func New(config Config) *Service { return &Service{config: config} }

// Register serves the PauseService. Restore is a method of the ResizeService.
func (s *Service) Register(r grpc.ServiceRegistrar) {
	workloadresizerv1.RegisterPauseServiceServer(r, s)
}
