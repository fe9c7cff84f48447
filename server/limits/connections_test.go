package limits

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"

	"github.com/workload-resizer/workload-resizer/internal/fair"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

// dialed is a connection from both sides.
type dialed struct{ client, server net.Conn }

// closed reports whether the server has closed the connection.
func (d dialed) closed(t *testing.T) bool {
	t.Helper()
	if err := d.client.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	_, err := d.client.Read(make([]byte, 1))
	if !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return errors.Is(err, io.EOF)
}

// listening returns a function that connects to a listener with at most this many connections.
func listening(t *testing.T, most int) (dial func() dialed) {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener := NewConnections(inner, most)
	t.Cleanup(func() { _ = listener.Close() })
	return func() dialed {
		t.Helper()
		client, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		server, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = client.Close(), server.Close() })
		return dialed{client, server}
	}
}

// reassign files an anonymous connection under another address.
func reassign(d dialed, network string) {
	conn := d.server.(*connection)
	conn.share.Release()
	conn.of.anonymous.Insert(&conn.share, fair.Key{Origin: network})
}

// who returns a user for limits.
func who(name string) fair.Key { return fair.Key{Origin: name, Account: name} }

func TestConnections(t *testing.T) {
	t.Run("a new anonymous one ends the oldest one", func(t *testing.T) {
		dial := listening(t, 12)
		anonymous := []dialed{dial(), dial(), dial()}
		known := anonymous[0]
		Used(known.server.RemoteAddr(), who("ann"))
		dial()
		if known.closed(t) || anonymous[1].closed(t) || anonymous[2].closed(t) {
			t.Fatal("one was closed too many")
		}
		dial()
		if known.closed(t) || !anonymous[1].closed(t) || anonymous[2].closed(t) {
			t.Error("not the oldest anonymous one was closed")
		}
	})
	t.Run("the caller with the most connections loses the least recently used one", func(t *testing.T) {
		dial := listening(t, 8)
		as := func(caller string) dialed {
			d := dial()
			Used(d.server.RemoteAddr(), who(caller))
			return d
		}
		ann := as("ann")
		ben := []dialed{as("ben"), as("ben"), as("ben"), as("ben"), as("ben")}
		Used(ben[0].server.RemoteAddr(), who("ben"))
		cid := as("cid")
		if ann.closed(t) || cid.closed(t) || ben[0].closed(t) || !ben[1].closed(t) || ben[2].closed(t) {
			t.Error("the wrong connection was closed")
		}
	})
	t.Run("of callers with as many connections, the one least recently used goes", func(t *testing.T) {
		dial := listening(t, 4)
		as := func(caller string) dialed {
			d := dial()
			Used(d.server.RemoteAddr(), who(caller))
			return d
		}
		ann, ben, cid := as("ann"), as("ben"), as("cid")
		Used(ann.server.RemoteAddr(), who("ann"))
		dan := as("dan")
		if ann.closed(t) || !ben.closed(t) || cid.closed(t) || dan.closed(t) {
			t.Error("the wrong connection was closed")
		}
	})
	t.Run("a pod does not end connections of others with its account and node", func(t *testing.T) {
		dial := listening(t, 8)
		as := func(pod, token string) dialed {
			d := dial()
			caller := access.Caller{Name: "system:serviceaccount:shop:web", Extra: map[string][]string{
				"authentication.kubernetes.io/credential-id": {token}, "authentication.kubernetes.io/pod-name": {pod}, "authentication.kubernetes.io/node-name": {"n"},
			}}
			Used(d.server.RemoteAddr(), caller.Who())
			return d
		}
		quiet := as("web-1", "JTI=1")
		busy := as("web-2", "JTI=2")
		for range 5 {
			as("web-2", "JTI=2")
		}
		if quiet.closed(t) || !busy.closed(t) {
			t.Error("the wrong connection was closed")
		}
	})
	t.Run("the address with the most anonymous ones loses its oldest one", func(t *testing.T) {
		dial := listening(t, 16)
		quiet := dial()
		reassign(quiet, "192.0.2.1/32")
		first := dial()
		for range 20 {
			dial()
		}
		if quiet.closed(t) || !first.closed(t) {
			t.Error("the wrong connection was closed")
		}
	})
	t.Run("a connection with many refused calls is closed", func(t *testing.T) {
		d := listening(t, 4)()
		for range mostRefused {
			Refused(d.server.RemoteAddr())
		}
		if d.closed(t) {
			t.Fatal("it was closed too early")
		}
		Refused(d.server.RemoteAddr())
		if !d.closed(t) {
			t.Error("it is open")
		}
	})
	t.Run("a connection has few watches without credentials", func(t *testing.T) {
		d := listening(t, 4)()
		ctx := peer.NewContext(t.Context(), &peer.Peer{Addr: d.server.RemoteAddr()})
		var leave func()
		for range mostExemptWatches {
			var err error
			if leave, err = enterExemptWatch(ctx); err != nil {
				t.Fatal(err)
			}
		}
		_, err := enterExemptWatch(ctx)
		servertest.CheckError(t, err, codes.ResourceExhausted, "TOO_MANY_WATCHES", "already has 4 watches")
		leave()
		if _, err := enterExemptWatch(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Run("closed connections do not count", func(t *testing.T) {
		dial := listening(t, 4)
		for range 3 {
			d := dial()
			Used(d.server.RemoteAddr(), who("ann"))
			if err := d.server.Close(); err != nil {
				t.Fatal(err)
			}
			_ = d.server.Close() // gRPC closes twice.
			Used(d.server.RemoteAddr(), who("ann"))
		}
		first := dial()
		Used(first.server.RemoteAddr(), who("ann"))
		second := dial()
		Used(second.server.RemoteAddr(), who("ben"))
		if first.closed(t) || second.closed(t) {
			t.Error("a connection was closed")
		}
	})
	t.Run("0 means no limit", func(t *testing.T) {
		dial := listening(t, 0)
		first := dial()
		for range 20 {
			Used(dial().server.RemoteAddr(), who("ann"))
		}
		if first.closed(t) {
			t.Error("a connection was closed")
		}
	})
}
