package standalone

import (
	"context"
	"errors"
	"net"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/server"
	"github.com/workload-resizer/workload-resizer/server/limits"
)

// Config is what a server without a cluster is made of.
type Config struct {
	// Source is the configuration: a file.Provider or a file.Text.
	Source ratios.Provider
	// OwnerKinds are the kinds of controllers whose pods are resized; nil for the
	// default ones.
	OwnerKinds []string
	// Sidecars has restartable init containers resized too; default false.
	Sidecars bool
	// Metrics are registered and exposed from here; nil for a registry of its
	// own.
	Metrics *prometheus.Registry
	// GRPC and HTTP are listened on; the server closes them. HTTP is nil for
	// neither probes nor metrics.
	GRPC, HTTP net.Listener
}

// Run serves until ctx is done, then lets the calls under way end.
func Run(ctx context.Context, config Config) error {
	store := ratios.NewStore(config.Source)
	return run(ctx, store, newServer(store, config))
}

func newServer(store *ratios.Store, config Config) *server.Server {
	planner := &plan.Planner{OwnerKinds: config.OwnerKinds, Sidecars: config.Sidecars}
	if planner.OwnerKinds == nil {
		planner.OwnerKinds = plan.DefaultOwnerKinds
	}
	if config.Metrics == nil {
		config.Metrics = prometheus.NewRegistry()
	}
	return server.New(server.Config{Ratios: store, Planner: planner, Limits: limits.Default, Reflection: true, Metrics: config.Metrics, GRPC: config.GRPC, HTTP: config.HTTP})
}

// run runs both until ctx is done or one of them ends.
func run(ctx context.Context, store *ratios.Store, api *server.Server) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	following := make(chan error, 1)
	go func() {
		defer cancel()
		following <- store.Run(ctx)
	}()
	err := api.Run(ctx)
	cancel()
	return errors.Join(err, <-following)
}
