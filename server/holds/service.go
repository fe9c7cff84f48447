package holds

import (
	"context"

	"google.golang.org/grpc"
	"k8s.io/apimachinery/pkg/types"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/reconciler/recorder"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/limits"
)

// Config configures a Service.
type Config struct {
	// Store keeps the holds.
	Store *hold.Store
	// Pods gives access to the existing pods; a reconciler.Reconciler implements it.
	Pods Pods
	// Viewer determines what callers can see, and Rights what they may do; an access.Access
	// implements both.
	Viewer access.Viewer
	Rights access.Rights
	// Journal records who ends holds and the freeze, and why; nil to not record it.
	Journal *recorder.Recorder
	// Slots are for the progress of holds, which needs a plan of each pod. They are separate from
	// the slots of previews: these must not keep anybody from waiting for a restore.
	Slots *limits.Slots
}

// Pods gives access to the pods that exist now. Its errors are the errors of a preview.
type Pods interface {
	UID(types.NamespacedName) (types.UID, error)
	// Workloads returns the known workloads of a pod, the narrowest first.
	Workloads(types.NamespacedName) []workload.Workload
	// Count counts the pods in a namespace, or all pods if it is empty.
	Count(namespace string) (int, error)
	// CountOf counts the pods of a workload.
	CountOf(namespace string, workload workload.Workload) (int, error)
	// PauseProgress and RestoreProgress count pods by how far they are from what a hold
	// requires; the UID selects one pod.
	PauseProgress(context.Context, query.Selection, types.UID) (query.Progress, error)
	RestoreProgress(context.Context, query.Selection, types.UID) (query.Progress, error)
}

// Service creates, lists and ends holds.
type Service struct {
	workloadresizerv1.UnimplementedHoldServiceServer
	config Config
}

// New returns a Service.
func New(config Config) *Service { return &Service{config: config} }

// Register serves the HoldService.
func (s *Service) Register(r grpc.ServiceRegistrar) {
	workloadresizerv1.RegisterHoldServiceServer(r, s)
}
