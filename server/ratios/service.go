package ratios

import (
	"context"

	"google.golang.org/grpc"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/streams"
	"github.com/workload-resizer/workload-resizer/server/values"
)

// Config configures a Service.
type Config struct {
	Store *ratios.Store
	// Overrides is nil if the store has no such source.
	Overrides *override.Store
	// Impacts is nil for a standalone server.
	Impacts Impacts
	// Viewer determines what callers can see.
	Viewer  access.Viewer
	Watches *streams.Watches
}

// Impacts returns the impact of another table on the pods that run now; a
// reconciler.Reconciler implements it. Its errors are the errors of a preview.
type Impacts interface {
	Impact(context.Context, *ratios.Table) (*query.Impact, error)
}

// Service returns ratios.
type Service struct {
	workloadresizerv1.UnimplementedRatioServiceServer
	config Config
	log    *tableLog
}

// New returns a Service. Its watches need Run.
func New(config Config) *Service {
	return &Service{config: config, log: newTableLog(config.Store, config.Overrides != nil)}
}

// Register serves the RatioService.
func (s *Service) Register(r grpc.ServiceRegistrar) {
	workloadresizerv1.RegisterRatioServiceServer(r, s)
}

// Run keeps watches up to date with the table in effect until ctx is done.
func (s *Service) Run(ctx context.Context) { s.log.run(ctx) }

// Table returns the table in effect, or an error if there is none.
func (s *Service) Table() (*ratios.Table, error) { return values.ReadyTable(s.config.Store) }

// Ratio returns the global ratio of a node type in a table, nil if there is none, and its etag or
// the etag of its absence; empty if ratios cannot be changed. The ratio must not be modified.
func (s *Service) Ratio(table *ratios.Table, nodeType string) (r *workloadresizerv1.Ratio, etag string) {
	if last := s.log.messages.last.Load(); last != nil && last.table == table {
		r = last.ratios[nodeType]
	} else {
		r = s.log.messages.ratio(table, nodeType)
	}
	return r, s.log.messages.etag(table, nodeType)
}
