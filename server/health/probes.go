package health

import (
	"fmt"
	"net/http"
	"strings"
)

// ServeLive answers the liveness probe.
func (h *Health) ServeLive(w http.ResponseWriter, _ *http.Request) {
	if err := h.live(); err != nil {
		http.Error(w, "not live: "+err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = fmt.Fprintln(w, "ok")
}

// ServeReady answers the readiness probe. A server that is ready still lists its problems as
// warnings.
func (h *Health) ServeReady(w http.ResponseWriter, _ *http.Request) {
	if h.ending.Load() {
		http.Error(w, "not ready: shutting down", http.StatusServiceUnavailable)
		return
	}
	if err := h.Ready(); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	_, _ = fmt.Fprintf(w, "ok\nratios: revision %s\n", h.config.Ratios.Table().Revision)
	// The server is ready with the last good ratios, but users must be able to see that they
	// are old.
	if err := h.config.Ratios.Problem(); err != nil {
		_, _ = fmt.Fprintf(w, "warning: the last good ratios are in effect: %v\n", err)
	}
	for _, err := range []error{h.config.Ratios.ImplausibleRatios(), h.Unstorable(), h.CertificateProblem(), h.unknownOwners()} {
		if err != nil {
			_, _ = fmt.Fprintf(w, "warning: %s\n", strings.ReplaceAll(err.Error(), "\n", "\nwarning: "))
		}
	}
	if h.config.Holds == nil {
		return
	}
	if err := h.config.Holds.Err(); err != nil {
		_, _ = fmt.Fprintf(w, "warning: the stored holds are not in effect: %v\n", err)
	}
}
