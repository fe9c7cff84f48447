package overrides

import (
	"context"

	"google.golang.org/grpc"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/limits"
)

// Config configures a Service.
type Config struct {
	Store *ratios.Store
	// Overrides is nil if the store has no such source.
	Overrides *override.Store
	Ratios    Ratios
	// Slots are for the impact of changes. They are separate from the slots of previews: callers
	// that may only read must not keep others from making changes.
	Slots *limits.Slots
}

// Ratios returns ratios in effect; a ratios.Service implements it.
type Ratios interface {
	// Table returns the table in effect, or an error if there is none.
	Table() (*ratios.Table, error)
	// Ratio returns the ratio of a node type in a table, nil if there is none, and the etag of
	// the ratio or of its absence.
	Ratio(table *ratios.Table, nodeType string) (r *workloadresizerv1.Ratio, etag string)
	// Impact returns the impact of another table, limited to what the caller can see.
	Impact(ctx context.Context, table *ratios.Table, slots *limits.Slots) (*workloadresizerv1.Impact, error)
}

// Service returns and changes overrides.
type Service struct {
	workloadresizerv1.UnimplementedOverrideServiceServer
	config Config
}

// New returns a Service.
func New(config Config) *Service { return &Service{config: config} }

// Register serves the OverrideService.
func (s *Service) Register(r grpc.ServiceRegistrar) {
	workloadresizerv1.RegisterOverrideServiceServer(r, s)
}

// enabled returns an error if there can be no overrides.
func (s *Service) enabled() error {
	if s.config.Overrides == nil {
		return rpcerror.New(rpcerror.OverridesDisabled,
			"the server does not use overrides: add override to its --ratio-sources")
	}
	return nil
}

// writable returns an error if overrides cannot be set, or if there is no table to validate
// them with.
func (s *Service) writable() error {
	if err := s.enabled(); err != nil {
		return err
	}
	_, err := s.config.Ratios.Table()
	return err
}

// inEffect returns the overrides in effect by node type.
func (s *Service) inEffect() (map[string]override.Override, error) {
	if err := s.enabled(); err != nil {
		return nil, err
	}
	overrides, err := s.config.Overrides.Overrides()
	if err != nil {
		return nil, rpcerror.NotReady(rpcerror.OverridesNotReady, err)
	}
	return overrides, nil
}
