package cluster

import (
	"google.golang.org/grpc"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/limits"
	"github.com/workload-resizer/workload-resizer/server/paging"
	"github.com/workload-resizer/workload-resizer/server/translate"
	"github.com/workload-resizer/workload-resizer/server/values"
)

// pageSizes are the numbers of workloads or nodes on a page.
var pageSizes = paging.Sizes{Default: 500, Max: 5000}

// Config configures a Service.
type Config struct {
	Reconciler *reconciler.Reconciler
	// Demands adds up what workloads request and use; nil if the server uses no sources of usage.
	Demands *demand.Demands
	Ratios  *ratios.Store
	// Viewer determines what callers can see.
	Viewer access.Viewer
	// Slots are shared with previews, which look at as many pods.
	Slots *limits.Slots
}

// Service returns workloads and nodes.
type Service struct {
	workloadresizerv1.UnimplementedClusterServiceServer
	config Config
}

// New returns a Service.
func New(config Config) *Service { return &Service{config: config} }

// Register serves the ClusterService.
func (s *Service) Register(r grpc.ServiceRegistrar) {
	workloadresizerv1.RegisterClusterServiceServer(r, s)
}

// table returns the ratios in effect, or an error if there are none, or if the pods are not known.
func (s *Service) table() (*ratios.Table, error) {
	if err := s.config.Reconciler.Cluster.CacheReady(); err != nil {
		return nil, translate.Error(err)
	}
	return values.ReadyTable(s.config.Ratios)
}
