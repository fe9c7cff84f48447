package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/health"
	journalservice "github.com/workload-resizer/workload-resizer/server/journal"
	"github.com/workload-resizer/workload-resizer/server/limits"
	ratioservice "github.com/workload-resizer/workload-resizer/server/ratios"
	"github.com/workload-resizer/workload-resizer/server/resizes"
	"github.com/workload-resizer/workload-resizer/server/streams"
	usageservice "github.com/workload-resizer/workload-resizer/server/usage"
)

const (
	// maxHeaderBytes limits the metadata of a request, which is read before the caller is
	// known. A token has a few KiB.
	maxHeaderBytes = 64 << 10
	// connectionTimeout is how long a connection may take to be set up, with its TLS handshake.
	connectionTimeout = 10 * time.Second
	// streamWorkers is the number of goroutines that serve calls in turn. A new goroutine per
	// call would spend most of its time growing its stack. Watches, and calls above this
	// number, get goroutines of their own.
	streamWorkers = 32
	// shutdownGrace is how long calls may continue after the server is asked to shut down.
	shutdownGrace = 10 * time.Second
)

// Server serves the API over gRPC, and probes and metrics over HTTP.
type Server struct {
	config Config
	grpc   *grpc.Server
	http   *http.Server
	// pprof is nil if there is no listener for profiles.
	pprof  *http.Server
	health *health.Health

	ratios *ratioservice.Service
	// resizes is nil for a standalone server.
	resizes *resizes.Service
	// usage and journal are nil for a standalone server.
	usage   *usageservice.Service
	journal *journalservice.Service
	watches *streams.Watches
	// previews limits how many previews are planned at the same time.
	previews *limits.Slots
}

// New returns a server that does nothing until Run. The reconciler must not be running yet.
func New(config Config) *Server {
	if config.Access == nil {
		config.Access = access.New(access.Config{Local: true})
	}
	transport := insecure.NewCredentials()
	if config.TLS != nil {
		transport = credentials.NewTLS(config.TLS)
	}
	metrics := newCallMetrics()
	guards := newGuards(&config)
	config.Metrics.MustRegister(metrics, guards.panics, guards.refused, newSourceCollector(config.Ratios), newRatioCollector(config.Ratios), newImplausibleRatios(config.Ratios))
	if config.Production != nil {
		config.Metrics.MustRegister(newContradictionCollector(config.Production, config.Benchmarks, config.Ratios))
	}
	if config.Certificate != nil {
		config.Metrics.MustRegister(newExpiryCollector(config.Certificate))
	}
	if !config.standalone() {
		config.Metrics.MustRegister(newHoldsHealthy(config.Holds), newFreezeHealthy(config.Holds), newFrozen(config.Holds))
	}
	s := &Server{
		config: config,
		grpc: grpc.NewServer(append(config.traced(),
			grpc.Creds(transport),
			grpc.ConnectionTimeout(connectionTimeout),
			grpc.InTapHandle(guards.tap),
			grpc.UnaryInterceptor(guards.unary(metrics)),
			grpc.ChainStreamInterceptor(guards.stream(metrics)...),
			grpc.NumStreamWorkers(streamWorkers),
			grpc.MaxRecvMsgSize(limits.MessageBytes),
			// No stream buffers more than one message, however slowly it is read.
			grpc.StaticStreamWindowSize(limits.MessageBytes),
			grpc.StaticConnWindowSize(16*limits.MessageBytes),
			grpc.MaxConcurrentStreams(config.Limits.Streams()),
			grpc.MaxHeaderListSize(maxHeaderBytes),
			grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
			grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionAge: 30 * time.Minute, MaxConnectionAgeGrace: time.Minute, MaxConnectionIdle: time.Hour}),
		)...),
		watches:  streams.NewWatches(),
		previews: limits.NewSlots(config.Limits.Previews),
	}
	s.health = health.New(health.Config{
		Ratios: config.Ratios, Reconciler: config.Reconciler, Holds: config.Holds, Stores: config.stores(), Certificate: config.Certificate,
		Services: offered{s.grpc}.GetServiceInfo,
	})
	s.register()
	metrics.initialize(s.grpc)
	s.http = newHTTP(s.httpHandler())
	if config.Pprof != nil {
		s.pprof = newPprof(config.PprofAccess)
	}
	return s
}

// Run serves until ctx is done, then waits for calls in progress to end.
func (s *Server) Run(ctx context.Context) error {
	logger := klog.FromContext(ctx)
	served := make(chan error, 3)
	left := 1
	go func() {
		served <- ended("serve gRPC", s.grpc.Serve(limits.NewConnections(s.config.GRPC, s.config.Limits.Connections)))
	}()
	if s.config.HTTP != nil {
		logger.Info("Serving", "grpc", s.config.GRPC.Addr().String(), "http", s.config.HTTP.Addr().String())
		left++
		go func() {
			served <- ended("serve HTTP", s.http.Serve(limits.NewConnections(s.config.HTTP, s.config.Limits.Connections)))
		}()
	}
	if s.pprof != nil {
		logger.Info("Serving profiles", "pprof", s.config.Pprof.Addr().String())
		left++
		go func() { served <- ended("serve profiles", s.servePprof()) }()
	}
	following, stopFollowing := context.WithCancel(ctx)
	defer stopFollowing()
	go s.health.Run(following)
	go s.ratios.Run(following)
	if s.resizes != nil {
		go s.resizes.Run(following)
		go s.usage.Run(following)
		go s.journal.Run(following)
	}

	var first error
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

// ended returns nil if serving ended because the server was asked to shut down.
func ended(attempt string, err error) error {
	if err == nil || errors.Is(err, grpc.ErrServerStopped) || errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("%s: %w", attempt, err)
}

// shutdown refuses new calls, ends watches, and gives calls in progress shutdownGrace to end.
func (s *Server) shutdown() {
	s.watches.End()
	s.health.End()
	if s.pprof != nil {
		_ = s.pprof.Close() // No need to wait for profiles.
	}
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
	// Last, so that probes are answered while calls end. Probes and metrics requests are
	// short; those that do not finish in time are cut off.
	_ = s.http.Shutdown(grace)
	_ = s.http.Close()
}
