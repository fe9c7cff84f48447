package server

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// httpHandler serves probes and metrics.
func (s *Server) httpHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", s.health.ServeLive)
	mux.HandleFunc("GET /readyz", s.health.ServeReady)
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.config.Metrics, promhttp.HandlerOpts{}))
	return mux
}
