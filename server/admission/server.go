package admission

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/klog/v2"
)

const (
	// requestTimeout is how long a request may take to arrive, and its answer to be read.
	requestTimeout = 2 * time.Second
	// perCPU is how many requests are answered at the same time for each CPU.
	perCPU = 4
	// lingers is how long requests are still answered when the process is asked to end: until then, API servers may not
	// know that other replicas must be asked.
	lingers = 3 * time.Second
)

// Config configures a Server. All fields must be set.
type Config struct {
	Sizer Sizer
	// Issued reports whether a token is the one that the API server was told.
	Issued func(token string) bool
	// Own is the namespace of the server, whose pods are never sized.
	Own string
	// DryRun means that pods are not changed.
	DryRun   bool
	Listener net.Listener
	TLS      *tls.Config
	Metrics  prometheus.Registerer
	// Problem returns why pods may not be sized; nil if there is no problem.
	Problem func() error
}

// Server answers the API server.
type Server struct {
	config Config
	http   *http.Server
}

// New returns a server that does nothing until Run.
func New(config Config) *Server {
	h := &handler{sizer: config.Sizer, metrics: newMetrics(config.Metrics, config.Problem), issued: config.Issued, own: config.Own, dryRun: config.DryRun, busy: make(chan struct{}, perCPU*runtime.GOMAXPROCS(0)), now: time.Now}
	mux := http.NewServeMux()
	mux.Handle("POST "+Path+"{token}", h)
	secure := config.TLS.Clone()
	secure.NextProtos = []string{"h2", "http/1.1"}
	return &Server{config, &http.Server{
		Handler: mux, TLSConfig: secure, MaxHeaderBytes: 8 << 10,
		ReadHeaderTimeout: requestTimeout, ReadTimeout: requestTimeout, WriteTimeout: 2 * requestTimeout, IdleTimeout: 2 * time.Minute,
	}}
}

// Run answers until ctx is done, and then for a short time more.
func (s *Server) Run(ctx context.Context) error {
	klog.FromContext(ctx).Info("Serving sizes at creation", "address", s.config.Listener.Addr().String())
	ended := make(chan error, 1)
	go func() { ended <- s.http.ServeTLS(s.config.Listener, "", "") }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve sizes at creation: %w", err)
	case <-ctx.Done():
	}
	select {
	case err := <-ended:
		return fmt.Errorf("serve sizes at creation: %w", err)
	case <-time.After(lingers):
	}
	grace, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	err := s.http.Shutdown(grace)
	if err != nil {
		err = s.http.Close()
	}
	if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
