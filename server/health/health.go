package health

import (
	"context"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
)

// period is how old what the health service says may be.
const period = 250 * time.Millisecond

// Config is what a Health is made of.
type Config struct {
	Ratios *ratios.Store
	// Reconciler and Holds are nil where there is no cluster.
	Reconciler *reconciler.Reconciler
	Holds      *hold.Store
	// Stores are what is kept in ConfigMaps, in the order in which it is told.
	Stores []Store
	// Certificate is nil in plaintext.
	Certificate Certificate
	// Services are all that the health service tells of.
	Services func() map[string]grpc.ServiceInfo
}

// Health is how the server is.
type Health struct {
	config Config
	server *health.Server
	// ending tells that the server was asked to end.
	ending atomic.Bool
}

// New returns a Health whose service needs Run.
func New(config Config) *Health {
	return &Health{config: config, server: health.NewServer()}
}

// Register serves the health service.
func (h *Health) Register(r grpc.ServiceRegistrar) { healthv1.RegisterHealthServer(r, h.server) }

// Run keeps what the health service says, of the server as a whole and of each
// service, at whether plans can be made.
func (h *Health) Run(ctx context.Context) {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		serving := healthv1.HealthCheckResponse_SERVING
		if h.Ready() != nil {
			serving = healthv1.HealthCheckResponse_NOT_SERVING
		}
		h.server.SetServingStatus("", serving)
		for service := range h.config.Services() {
			h.server.SetServingStatus(service, serving)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// End has everybody told that the server is not ready any more.
func (h *Health) End() {
	h.ending.Store(true)
	h.server.Shutdown()
}
