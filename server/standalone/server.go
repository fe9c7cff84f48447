package standalone

import (
	"context"
	"errors"
	"net"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/server"
	"github.com/workload-resizer/workload-resizer/server/limits"
)

// Config configures a standalone server.
type Config struct {
	// Source provides the configuration: a file.Provider or a file.Text.
	Source ratios.Provider
	// OwnerKinds are the kinds of controllers whose pods are resized; nil for the default
	// kinds.
	OwnerKinds []string
	// WorkloadKinds are the kinds of owners of controllers, whose manifests are planned.
	WorkloadKinds []schema.GroupResource
	// Sidecars also resizes restartable init containers; default false.
	Sidecars bool
	// Metrics is the registry that the server registers its metrics with and exposes; nil for
	// a new one.
	Metrics *prometheus.Registry
	// GRPC and HTTP are the listeners, which the server closes. If HTTP is nil, there are no
	// probes and no metrics.
	GRPC, HTTP net.Listener
}

// Run serves until ctx is done, then waits for calls in progress to end.
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
	return server.New(server.Config{Ratios: store, Planner: planner, WorkloadKinds: config.WorkloadKinds, Limits: limits.Default, Reflection: true, Metrics: config.Metrics, GRPC: config.GRPC, HTTP: config.HTTP})
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
