package limits

import (
	"context"
	"fmt"
	"net"
	"sync"

	"google.golang.org/grpc/peer"

	"github.com/workload-resizer/workload-resizer/internal/fair"
	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

const (
	// mostRefused is how many calls may be refused on one connection.
	mostRefused = 1000
	// sendBuffer is how many bytes the kernel buffers for a caller that does not read; Linux doubles
	// it. By itself, it would buffer megabytes for each connection.
	sendBuffer = 128 << 10
	// mostExemptWatches is how many watches that need no credentials may run on one
	// connection.
	mostExemptWatches = 4
)

// Connections is a listener that bounds how many connections are open. A connection is
// anonymous until a caller becomes known on it. A new connection is always accepted: if
// there are too many anonymous ones, the address with the most loses its oldest one. If there are
// too many of known callers, the caller with the most loses the one that it used least
// recently. So nobody keeps others from connecting, whether they share an address or not.
type Connections struct {
	net.Listener

	mu sync.Mutex
	// anonymous has the open connections by address, and known the others by caller.
	anonymous, known *fair.Pool[*connection]
}

// NewConnections returns a listener that keeps at most this many connections open, a quarter
// of them anonymous. It returns the listener itself if most is 0, which means no limit.
func NewConnections(listener net.Listener, most int) net.Listener {
	if most == 0 {
		return listener
	}
	anonymous := max(1, most/4)
	return &Connections{
		Listener:  listener,
		anonymous: fair.NewPool[*connection](fair.Limits{All: anonymous}),
		known:     fair.NewPool[*connection](fair.Limits{All: max(1, most-anonymous)}),
	}
}

// Accept implements net.Listener.
func (c *Connections) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	endUnanswered(conn)
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer) // It works without, too.
	}
	accepted := &connection{Conn: conn, of: c}
	accepted.share.Value = accepted
	c.mu.Lock()
	evicted := c.anonymous.Insert(&accepted.share, anonymousAt(conn.RemoteAddr()))
	c.mu.Unlock()
	end(evicted)
	return accepted, nil
}

// anonymousAt returns whom limits take callers for that are not known, by their address.
func anonymousAt(address net.Addr) fair.Key {
	return fair.Key{Origin: access.Network(address).String()}
}

// connectionOf returns the connection with this remote address; nil if no Connections has
// accepted it.
func connectionOf(remote net.Addr) *connection {
	if from, ok := remote.(*address); ok {
		return from.conn
	}
	return nil
}

// Used notes that a known caller makes a call on the connection with this remote address.
func Used(remote net.Addr, caller fair.Key) {
	conn := connectionOf(remote)
	if conn == nil || caller == (fair.Key{}) {
		return
	}
	var evicted *fair.Share[*connection]
	conn.of.mu.Lock()
	switch {
	case !conn.share.Holds(): // It is closed.
	case conn.share.Key() == caller:
		conn.share.Use()
	default:
		conn.share.Release()
		evicted = conn.of.known.Insert(&conn.share, caller)
	}
	conn.of.mu.Unlock()
	end(evicted)
}

// Refused notes that a call on the connection with this remote address was refused by its
// headers. A connection with many of them is closed, so its caller must connect again.
func Refused(remote net.Addr) {
	conn := connectionOf(remote)
	if conn == nil {
		return
	}
	conn.of.mu.Lock()
	conn.refused++
	tooMany := conn.refused > mostRefused
	conn.of.mu.Unlock()
	if tooMany {
		_ = conn.Close() // Nobody is left to tell.
	}
}

// enterExemptWatch counts a watch that needs no credentials until leave is called. It returns
// an error if the connection has too many.
func enterExemptWatch(ctx context.Context) (leave func(), err error) {
	from, ok := peer.FromContext(ctx)
	if !ok {
		return func() {}, nil
	}
	conn := connectionOf(from.Addr)
	if conn == nil {
		return func() {}, nil
	}
	mu := &conn.of.mu
	mu.Lock()
	defer mu.Unlock()
	if conn.exemptWatches >= mostExemptWatches {
		return nil, tooMany(rpcerror.TooManyWatches, fmt.Sprintf("the connection already has %d watches that need no credentials", mostExemptWatches), 0)
	}
	conn.exemptWatches++
	return func() {
		mu.Lock()
		defer mu.Unlock()
		conn.exemptWatches--
	}, nil
}

// connection is one that Connections counts. All fields but Conn and of are guarded by of.mu.
type connection struct {
	net.Conn
	of    *Connections
	share fair.Share[*connection]
	// refused and exemptWatches are what mostRefused and mostExemptWatches bound.
	refused, exemptWatches int
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.of.mu.Lock()
	c.share.Release()
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// end closes a connection that gave way; nil is none.
func end(evicted *fair.Share[*connection]) {
	if evicted != nil {
		_ = evicted.Value.Conn.Close() // Nobody is left to tell.
	}
}

// RemoteAddr implements net.Conn.
func (c *connection) RemoteAddr() net.Addr { return &address{c.Conn.RemoteAddr(), c} }

// address is the remote address of a connection, which leads back to it: gRPC gives callers'
// addresses to those who handle calls, but not their connections.
type address struct {
	net.Addr
	conn *connection
}

// Unwrap returns the address itself, e.g. a *net.TCPAddr.
func (a *address) Unwrap() net.Addr { return a.Addr }
