package limits

import (
	"container/list"
	"net"
	"sync"
)

// Connections is a listener that bounds how many connections are open. A connection belongs
// to a stranger until a caller becomes known on it. A new connection is always accepted: if
// there are too many, it displaces the oldest one of a stranger. If too many have a caller,
// the one that the caller with the most connections used least recently is closed. So nobody
// keeps others from connecting, whether they share an address or not.
type Connections struct {
	net.Listener
	// strangers and known are how many connections of each kind may be open.
	strangers, known int

	mu sync.Mutex
	// open has the connections of each caller, the least recently used first; "" is
	// strangers.
	open map[string]*list.List
	// count is how many connections have a caller.
	count int
}

// NewConnections returns a listener that keeps at most this many connections open, a quarter
// of them for strangers. It returns the listener itself if most is 0, which means no limit.
func NewConnections(listener net.Listener, most int) net.Listener {
	if most <= 0 {
		return listener
	}
	strangers := max(1, most/4)
	return &Connections{Listener: listener, strangers: strangers, known: max(1, most-strangers), open: map[string]*list.List{}}
}

// Accept implements net.Listener.
func (c *Connections) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	accepted := &connection{Conn: conn, of: c}
	c.mu.Lock()
	var displaced *connection
	if all := c.open[""]; all != nil && all.Len() >= c.strangers {
		displaced = all.Front().Value.(*connection)
		c.remove(displaced)
	}
	c.add(accepted, "")
	c.mu.Unlock()
	displaced.displace()
	return accepted, nil
}

// add files a connection under its caller. It needs c.mu.
func (c *Connections) add(conn *connection, caller string) {
	all := c.open[caller]
	if all == nil {
		all = list.New()
		c.open[caller] = all
	}
	conn.caller, conn.place = caller, all.PushBack(conn)
	if caller != "" {
		c.count++
	}
}

// remove is the reverse of add, and does nothing for a connection that was removed. It needs
// c.mu.
func (c *Connections) remove(conn *connection) {
	if conn.place == nil {
		return
	}
	all := c.open[conn.caller]
	all.Remove(conn.place)
	conn.place = nil
	if all.Len() == 0 {
		delete(c.open, conn.caller)
	}
	if conn.caller != "" {
		c.count--
	}
}

// most returns the connection that the caller with the most connections used least recently.
// It needs c.mu.
func (c *Connections) most() *connection {
	var most *list.List
	for caller, all := range c.open {
		if caller != "" && (most == nil || all.Len() > most.Len()) {
			most = all
		}
	}
	return most.Front().Value.(*connection)
}

// Used notes that a known caller makes a call on the connection with this remote address.
// Addresses that no Connections has accepted have no limit.
func Used(remote net.Addr, caller string) {
	from, ok := remote.(*address)
	if !ok || caller == "" {
		return
	}
	conn, c := from.conn, from.conn.of
	c.mu.Lock()
	var displaced *connection
	switch {
	case conn.place == nil: // It is closed.
	case conn.caller == caller:
		c.open[caller].MoveToBack(conn.place)
	default:
		c.remove(conn)
		c.add(conn, caller)
		if c.count > c.known {
			displaced = c.most()
			c.remove(displaced)
		}
	}
	c.mu.Unlock()
	displaced.displace()
}

// connection is one that Connections counts.
type connection struct {
	net.Conn
	of *Connections
	// caller and place are guarded by of.mu; place is nil once the connection is closed.
	caller string
	place  *list.Element
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.of.mu.Lock()
	c.of.remove(c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// displace closes a connection that was removed; nil is none.
func (c *connection) displace() {
	if c != nil {
		_ = c.Conn.Close() // Nobody is left to tell.
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
