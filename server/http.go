package server

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/workload-resizer/workload-resizer/server/access"
)

const (
	// maxHTTPHeaderBytes limits the headers of an HTTP request. A token has a few KiB. Once
	// they are parsed, headers can take 16 times their size.
	maxHTTPHeaderBytes = 8 << 10
	// httpTimeout is how long a request to probes or metrics may take to arrive, and its
	// answer to be read.
	httpTimeout = 10 * time.Second
)

// newHTTP returns a server of probes and metrics.
func newHTTP(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, MaxHeaderBytes: maxHTTPHeaderBytes,
		ReadTimeout: httpTimeout, WriteTimeout: httpTimeout, IdleTimeout: 2 * time.Minute,
	}
}

// httpHandler serves probes and metrics.
func (s *Server) httpHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", s.health.ServeLive)
	mux.HandleFunc("GET /readyz", s.health.ServeReady)
	var metrics http.Handler = newScrapes(promhttp.HandlerFor(s.config.Metrics, promhttp.HandlerOpts{}))
	if s.config.MetricsAccess != nil {
		metrics = s.config.MetricsAccess.Guard(access.Metrics, metrics)
	}
	mux.Handle("GET "+access.Metrics, metrics)
	return mux
}
