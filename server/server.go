package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
	"k8s.io/klog/v2"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
)

const (
	// maxReceiveBytes is how large a request may be.
	maxReceiveBytes = 4 << 20
	// shutdownGrace is how long calls may go on once the server was asked to
	// end.
	shutdownGrace = 10 * time.Second
)

// Config is what a Server is made of. All fields must be set.
type Config struct {
	Ratios     *ratios.Store
	Reconciler *reconciler.Reconciler
	Holds      *hold.Store
	// Metrics are registered and exposed from here.
	Metrics *prometheus.Registry
	// GRPC and HTTP are listened on; the server closes them.
	GRPC, HTTP net.Listener
}

// Server serves the API over gRPC, and probes and metrics over HTTP.
type Server struct {
	config Config
	grpc   *grpc.Server
	http   *http.Server
	health *health.Server
	// ending tells that the server was asked to end.
	ending atomic.Bool
}

// New returns a server that does nothing until Run.
func New(config Config) *Server {
	metrics := grpcprom.NewServerMetrics(grpcprom.WithServerHandlingTimeHistogram())
	config.Metrics.MustRegister(metrics, newSourceCollector(config.Ratios), newHoldsHealthy(config.Holds))
	s := &Server{
		config: config,
		grpc: grpc.NewServer(
			grpc.ChainUnaryInterceptor(unaryInterceptors(metrics)...),
			grpc.ChainStreamInterceptor(streamInterceptors(metrics)...),
			grpc.MaxRecvMsgSize(maxReceiveBytes),
			grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
			grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionAge: 30 * time.Minute, MaxConnectionAgeGrace: time.Minute}),
		),
		health: health.NewServer(),
	}
	workloadresizerv1.RegisterRatioServiceServer(s.grpc, &ratioService{store: config.Ratios})
	workloadresizerv1.RegisterPlanServiceServer(s.grpc, &planService{reconciler: config.Reconciler})
	workloadresizerv1.RegisterHoldServiceServer(s.grpc, &holdService{store: config.Holds, pods: config.Reconciler})
	healthv1.RegisterHealthServer(s.grpc, s.health)
	reflection.Register(s.grpc)
	metrics.InitializeMetrics(s.grpc)
	s.http = &http.Server{Handler: s.httpHandler(), ReadHeaderTimeout: 10 * time.Second}
	return s
}

// Run serves until ctx is done, then lets the calls under way end.
func (s *Server) Run(ctx context.Context) error {
	logger := klog.FromContext(ctx)
	logger.Info("Serving", "grpc", s.config.GRPC.Addr().String(), "http", s.config.HTTP.Addr().String())
	served := make(chan error, 2)
	go func() { served <- ended("serve gRPC", s.grpc.Serve(s.config.GRPC)) }()
	go func() { served <- ended("serve HTTP", s.http.Serve(s.config.HTTP)) }()
	following, stopFollowing := context.WithCancel(ctx)
	defer stopFollowing()
	go s.followHealth(following)

	var first error
	left := 2
	select {
	case <-ctx.Done():
	case first = <-served:
		left--
	}
	s.shutdown()
	for ; left > 0; left-- {
		first = errors.Join(first, <-served)
	}
	return first
}

// ended is nil where serving ended because the server was asked to end.
func ended(attempt string, err error) error {
	if err == nil || errors.Is(err, grpc.ErrServerStopped) || errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("%s: %w", attempt, err)
}

// shutdown refuses new calls and gives those under way shutdownGrace.
func (s *Server) shutdown() {
	s.ending.Store(true)
	s.health.Shutdown()
	stopped := make(chan struct{})
	go func() {
		s.grpc.GracefulStop()
		close(stopped)
	}()
	grace, cancel := context.WithTimeout(context.Background(), shutdownGrace)
	defer cancel()
	select {
	case <-stopped:
	case <-grace.Done():
		s.grpc.Stop()
		<-stopped
	}
	// Last, so that probes are answered while calls end. They and metrics are
	// short; what is not done in time is cut off.
	_ = s.http.Shutdown(grace)
	_ = s.http.Close()
}
