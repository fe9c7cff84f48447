package usage

import (
	"context"

	"google.golang.org/grpc"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/limits"
	"github.com/workload-resizer/workload-resizer/server/streams"
	"github.com/workload-resizer/workload-resizer/server/translate"
	"github.com/workload-resizer/workload-resizer/server/values"
	usagestore "github.com/workload-resizer/workload-resizer/usage"
)

// Pushed takes usage that callers report; a push.Source implements it.
type Pushed interface {
	// Push adds samples of a sender: all of them, or none if there is no room.
	Push(sender string, samples []usagestore.Sample) error
	// PushNode replaces what is known of a node.
	PushNode(usagestore.NodeUsage)
}

// Config configures a Service.
type Config struct {
	// Demands is nil if the server uses no sources of usage.
	Demands *demand.Demands
	// Push takes the usage that callers report; nil if the server does not use that source.
	Push Pushed
	// Ratios has the prices.
	Ratios *ratios.Store
	// DryRun means that nothing is counted.
	DryRun bool
	// Viewer determines what callers can see.
	Viewer  access.Viewer
	Watches *streams.Watches
	// Slots are shared with previews, which look at as many pods.
	Slots *limits.Slots
	// Receiving limits how many reports arrive at a time.
	Receiving *limits.Receiving
}

// Service returns what workloads need, and takes reports.
type Service struct {
	workloadresizerv1.UnimplementedUsageServiceServer
	config Config
	log    *log
}

// New returns a Service.
func New(config Config) *Service { return &Service{config: config, log: newLog(config.Demands)} }

// Register serves the UsageService.
func (s *Service) Register(r grpc.ServiceRegistrar) {
	workloadresizerv1.RegisterUsageServiceServer(r, s)
}

// Run keeps watches up to date until ctx is done.
func (s *Service) Run(ctx context.Context) {
	if s.config.Demands != nil {
		s.log.run(ctx)
	}
}

func (s *Service) enabled() error { return Enabled(s.config.Demands) }

// Enabled returns an error if there are no demands, because the server uses no sources of usage.
func Enabled(demands *demand.Demands) error {
	if demands == nil {
		return rpcerror.New(rpcerror.UsageDisabled, "the server uses no sources of usage: start it with --usage-sources=metrics")
	}
	return nil
}

// table returns the ratios in effect, or an error if there are none, or if the pods are not known.
func (s *Service) table() (*ratios.Table, error) {
	if err := s.enabled(); err != nil {
		return nil, err
	}
	if err := s.config.Demands.Ready(); err != nil {
		return nil, translate.Error(err)
	}
	return values.ReadyTable(s.config.Ratios)
}

// currency returns the currency of prices; empty without prices.
func currency(table *ratios.Table) string {
	if table.Prices == nil {
		return ""
	}
	return table.Prices.Currency
}
