package gate

import (
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	// readHeader is how long a browser may take to send a request, and idle how long it may keep a connection without one.
	readHeader, idle = 10 * time.Second, time.Minute
	// mostHeader is how long the headers of a request may be, in bytes. Those of browsers have a few hundred.
	mostHeader = 16 << 10
	// mostConnections is how many connections there may be. A browser has six.
	mostConnections = 64
)

// Server returns a server of the pages. Everybody on this machine can connect to it, so there is little that they can make it keep.
func (g *Gate) Server(pages http.Handler) *http.Server {
	return &http.Server{
		Handler: g.Keep(pages), ReadHeaderTimeout: readHeader, IdleTimeout: idle, MaxHeaderBytes: mostHeader, ConnState: atMost(mostConnections),
	}
}

// atMost closes each connection that is one too many.
func atMost(most int64) func(net.Conn, http.ConnState) {
	var open atomic.Int64
	return func(c net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			if open.Add(1) > most {
				_ = c.Close()
			}
		case http.StateClosed:
			open.Add(-1)
		}
	}
}
