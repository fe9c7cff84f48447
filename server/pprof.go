package server

import (
	"net/http"
	"net/http/pprof"

	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/limits"
)

// newPprof returns a server of profiles of the process for callers with the right to debug.
// It has its own listener, separate from probes and metrics, which need no right.
func newPprof(guard *access.Access) *http.Server {
	mux := http.NewServeMux()
	for path, serve := range map[string]http.HandlerFunc{
		"/": pprof.Index, "/cmdline": pprof.Cmdline, "/profile": pprof.Profile, "/symbol": pprof.Symbol, "/trace": pprof.Trace,
	} {
		mux.HandleFunc(access.Pprof+path, serve)
	}
	return &http.Server{Handler: guard.Guard(access.Pprof, mux), ReadHeaderTimeout: httpTimeout, MaxHeaderBytes: maxHTTPHeaderBytes}
}

// servePprof serves profiles in the same way as the API: encrypted if the API is, except on a
// Unix socket, which never leaves this machine.
func (s *Server) servePprof() error {
	listener := limits.NewConnections(s.config.Pprof, s.config.Limits.Connections)
	if s.config.TLS == nil || s.config.Pprof.Addr().Network() == "unix" {
		return s.pprof.Serve(listener)
	}
	s.pprof.TLSConfig = s.config.TLS.Clone()
	return s.pprof.ServeTLS(listener, "", "")
}
