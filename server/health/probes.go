package health

import (
	"fmt"
	"net/http"
	"strings"
)

// ServeLive answers a probe whether the process is to be restarted.
func (h *Health) ServeLive(w http.ResponseWriter, _ *http.Request) {
	if err := h.live(); err != nil {
		http.Error(w, "not live: "+err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = fmt.Fprintln(w, "ok")
}

// ServeReady answers a probe whether the server is to be asked, with what is wrong all
// the same.
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
	// Ready on the last good ratios is still ready, but nobody should
	// have to guess that they are old.
	if err := h.config.Ratios.Problem(); err != nil {
		_, _ = fmt.Fprintf(w, "warning: the last good ratios are in force: %v\n", err)
	}
	for _, err := range []error{h.Unstorable(), h.CertificateProblem(), h.unknownOwners()} {
		if err != nil {
			_, _ = fmt.Fprintf(w, "warning: %s\n", strings.ReplaceAll(err.Error(), "\n", "\nwarning: "))
		}
	}
	if h.config.Holds == nil {
		return
	}
	if err := h.config.Holds.Err(); err != nil {
		_, _ = fmt.Fprintf(w, "warning: restored and paused pods are not known as they are stored: %v\n", err)
	}
}
