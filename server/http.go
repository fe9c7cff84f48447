package server

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/workload-resizer/workload-resizer/server/access"
)

// httpHandler serves probes and metrics.
func (s *Server) httpHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", s.health.ServeLive)
	mux.HandleFunc("GET /readyz", s.health.ServeReady)
	metrics := promhttp.HandlerFor(s.config.Metrics, promhttp.HandlerOpts{})
	if s.config.MetricsAccess != nil {
		metrics = s.config.MetricsAccess.Guard(access.Metrics, metrics)
	}
	mux.Handle("GET "+access.Metrics, metrics)
	return mux
}
