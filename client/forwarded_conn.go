package client

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/streaming/pkg/httpstream"
)

// forwardedConn is a connection to a forwarded port. It is one end of a pipe,
// which unlike the streams behind it knows deadlines.
type forwardedConn struct {
	net.Conn
	// cause is what the node said was wrong, if anything.
	cause atomic.Pointer[error]
}

// newForwardedConn opens the two streams that make a connection to a port, and
// ends the connection that carries them with itself.
func newForwardedConn(connection httpstream.Connection, port int32) (net.Conn, error) {
	data, failure, err := openStreams(connection, port)
	if err != nil {
		return nil, errors.Join(err, connection.Close())
	}
	near, far := net.Pipe()
	c := &forwardedConn{Conn: near}
	go func() {
		// Ends when either side does, and what is left then is of no use.
		_, _ = io.Copy(data, far)
		_ = connection.Close()
	}()
	go func() {
		_, _ = io.Copy(far, data)
		if said, _ := io.ReadAll(failure); len(said) > 0 {
			err := errors.New(string(said))
			c.cause.Store(&err)
		}
		_ = far.Close()
	}()
	return c, nil
}

func openStreams(connection httpstream.Connection, port int32) (data, failure httpstream.Stream, err error) {
	open := func(kind string) (httpstream.Stream, error) {
		headers := http.Header{}
		headers.Set(corev1.StreamType, kind)
		headers.Set(corev1.PortHeader, strconv.Itoa(int(port)))
		// Tells which two streams belong together; there are no others.
		headers.Set(corev1.PortForwardRequestIDHeader, "0")
		stream, err := connection.CreateStream(headers)
		if err != nil {
			return nil, fmt.Errorf("open the %s stream: %w", kind, err)
		}
		return stream, nil
	}
	if failure, err = open(corev1.StreamTypeError); err != nil {
		return nil, nil, err
	}
	// Nothing is said there from this side.
	if err := failure.Close(); err != nil {
		return nil, nil, fmt.Errorf("close this side of the error stream: %w", err)
	}
	data, err = open(corev1.StreamTypeData)
	return data, failure, err
}

// Read implements net.Conn.
func (c *forwardedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	return n, c.explain(err)
}

// Write implements net.Conn.
func (c *forwardedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	return n, c.explain(err)
}

// explain replaces the end of a connection by what the node said of it, e.g. that
// nothing listens on the port.
func (c *forwardedConn) explain(err error) error {
	if cause := c.cause.Load(); err != nil && cause != nil {
		return *cause
	}
	return err
}
