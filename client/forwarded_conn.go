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

// forwardedConn is a connection to a forwarded port. It is one end of a pipe, which unlike
// the streams behind it supports deadlines.
type forwardedConn struct {
	net.Conn
	// cause is the error that the node reported, if any.
	cause atomic.Pointer[error]
}

// newForwardedConn opens the two streams that make up a connection to a port. Closing the
// result also closes the connection that carries the streams.
func newForwardedConn(connection httpstream.Connection, port int32) (net.Conn, error) {
	data, failure, err := openStreams(connection, port)
	if err != nil {
		return nil, errors.Join(err, connection.Close())
	}
	near, far := net.Pipe()
	c := &forwardedConn{Conn: near}
	go func() {
		// Ends when either side ends; by then, the remaining data is of no use.
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
		// Identifies the two streams that belong together; there are no others.
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
	// This side sends nothing there.
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

// explain replaces the error of a closed connection with the error that the node reported,
// e.g. that nothing listens on the port.
func (c *forwardedConn) explain(err error) error {
	if cause := c.cause.Load(); err != nil && cause != nil {
		return *cause
	}
	return err
}
