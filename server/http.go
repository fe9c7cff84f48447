package server

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// httpHandler serves the probes and the metrics.
func (s *Server) httpHandler() http.Handler {
	config := s.config
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		if err := config.live(); err != nil {
			http.Error(w, "not live: "+err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if s.ending.Load() {
			http.Error(w, "not ready: shutting down", http.StatusServiceUnavailable)
			return
		}
		if err := config.ready(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintf(w, "ok\nratios: revision %s\n", config.Ratios.Table().Revision)
		// Ready on the last good ratios is still ready, but nobody should
		// have to guess that they are old.
		if err := config.Ratios.Problem(); err != nil {
			_, _ = fmt.Fprintf(w, "warning: the last good ratios are in force: %v\n", err)
		}
		for _, err := range []error{config.unstorable(), config.certificateProblem(), config.unknownOwners()} {
			if err != nil {
				_, _ = fmt.Fprintf(w, "warning: %s\n", strings.ReplaceAll(err.Error(), "\n", "\nwarning: "))
			}
		}
		if config.standalone() {
			return
		}
		if err := config.Holds.Err(); err != nil {
			_, _ = fmt.Fprintf(w, "warning: restored and paused pods are not known as they are stored: %v\n", err)
		}
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(config.Metrics, promhttp.HandlerOpts{}))
	return mux
}
