package health

import (
	"context"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
)

// period is how often the health service is updated.
const period = 250 * time.Millisecond

// Config configures a Health.
type Config struct {
	Ratios *ratios.Store
	// Reconciler and Holds are nil for a standalone server.
	Reconciler *reconciler.Reconciler
	Holds      *hold.Store
	// Stores are the stores that keep documents in ConfigMaps, in the order in which their
	// problems are listed.
	Stores []Store
	// Certificate is nil in plaintext.
	Certificate Certificate
	// Services returns the services whose health is reported.
	Services func() map[string]grpc.ServiceInfo
}

// Health reports the health of the server.
type Health struct {
	config Config
	server *health.Server
	// ending is set when the server is asked to shut down.
	ending atomic.Bool
}

// New returns a Health whose service needs Run.
func New(config Config) *Health {
	return &Health{config: config, server: health.NewServer()}
}

// Register serves the health service.
func (h *Health) Register(r grpc.ServiceRegistrar) {
	healthv1.RegisterHealthServer(r, knownOnly{h.server, h.config.Services})
}

// maxServiceName is the maximum length of the name of a service that can be watched, in bytes.
const maxServiceName = 256

// knownOnly does not remember services that callers make up.
type knownOnly struct {
	*health.Server
	services func() map[string]grpc.ServiceInfo
}

// Watch implements the health service.
func (s knownOnly) Watch(request *healthv1.HealthCheckRequest, stream grpc.ServerStreamingServer[healthv1.HealthCheckResponse]) error {
	if _, known := s.services()[request.GetService()]; known || request.GetService() == "" {
		return s.Server.Watch(request, stream)
	}
	if len(request.GetService()) > maxServiceName {
		return status.Error(codes.InvalidArgument, "the name of the service is too long")
	}
	if err := stream.Send(&healthv1.HealthCheckResponse{Status: healthv1.HealthCheckResponse_SERVICE_UNKNOWN}); err != nil {
		return err
	}
	// As the protocol demands, the watch goes on although no service is added later.
	<-stream.Context().Done()
	return status.FromContextError(stream.Context().Err()).Err()
}

// Run keeps the health service up to date until ctx is done. The server as a whole and each
// service are healthy while plans can be made.
func (h *Health) Run(ctx context.Context) {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	var known logged
	for {
		known = h.log(ctx, known)
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

// logged is which of the problems that nothing else logs were logged.
type logged struct {
	stuck      bool
	unstorable string
}

// log logs these problems when they are new, and returns which there are.
func (h *Health) log(ctx context.Context, before logged) (now logged) {
	logger := klog.FromContext(ctx)
	if err := h.live(); err != nil {
		now.stuck = true // How long it is stuck changes with each look.
		if !before.stuck {
			logger.Error(err, "Server makes no progress")
		}
	}
	if err := h.Unstorable(); err != nil {
		now.unstorable = err.Error()
		if now.unstorable != before.unstorable {
			logger.Error(err, "Changes cannot be stored")
		}
	}
	return now
}

// End reports to all clients that the server is no longer ready.
func (h *Health) End() {
	h.ending.Store(true)
	h.server.Shutdown()
}
