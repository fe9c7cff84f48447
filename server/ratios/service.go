package ratios

import (
	"context"

	"google.golang.org/grpc"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/limits"
	"github.com/workload-resizer/workload-resizer/server/streams"
	"github.com/workload-resizer/workload-resizer/server/translate"
)

// Config is what a Service is made of.
type Config struct {
	Store *ratios.Store
	// Overrides are nil if the store has no such source.
	Overrides *override.Store
	// Impacts are nil where there is no cluster.
	Impacts Impacts
	// Viewer tells what callers see.
	Viewer  access.Viewer
	Watches *streams.Watches
	// Slots are for what changes would mean. They are not those of previews: who
	// may only look must not keep others from changing something.
	Slots *limits.Slots
}

// Impacts knows what another table would mean for the pods that run now; a
// reconciler.Reconciler does. Its errors are those of a preview.
type Impacts interface {
	Impact(context.Context, *ratios.Table) (*query.Impact, error)
}

// Service tells and changes ratios.
type Service struct {
	workloadresizerv1.UnimplementedRatioServiceServer
	config Config
	log    *tableLog
}

// New returns a Service whose watches need Run.
func New(config Config) *Service {
	return &Service{config: config, log: newTableLog(config.Store, config.Overrides != nil)}
}

// Register serves the RatioService.
func (s *Service) Register(r grpc.ServiceRegistrar) {
	workloadresizerv1.RegisterRatioServiceServer(r, s)
}

// Run keeps watches at the table in force until ctx is done.
func (s *Service) Run(ctx context.Context) { s.log.run(ctx) }

// Table returns the table in force, or the error that there is none.
func (s *Service) Table() (*ratios.Table, error) { return translate.ReadyTable(s.config.Store) }

// Ratio returns the ratio of a node type in the globals of a table, nil if they do not
// name it, and what has to be given to change that just as it is; empty where nothing
// can be set. Nobody may change the ratio.
func (s *Service) Ratio(table *ratios.Table, nodeType string) (r *workloadresizerv1.Ratio, etag string) {
	r = s.log.messages.of(table)[nodeType]
	if r == nil && s.config.Overrides != nil {
		return nil, override.Etag(nodeType, nil)
	}
	return r, r.GetEtag()
}
