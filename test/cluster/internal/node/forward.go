package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-streaming/pkg/streaming"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
)

// startForwarder serves the streams to which the kubelet redirects callers, as every
// container runtime does, until the context ends. The kernel chooses the port, because no
// client needs to know it in advance.
func startForwarder(ctx context.Context, machine *machine) (streaming.Server, error) {
	listener, err := net.Listen("tcp4", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return nil, fmt.Errorf("listen for forwarded ports: %w", err)
	}
	config := streaming.DefaultConfig
	config.Addr = listener.Addr().String()
	config.BaseURL = &url.URL{Scheme: "http", Host: config.Addr}
	forwarder, err := streaming.NewServer(config, forwarding{machine})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("serve forwarded ports: %w", err), listener.Close())
	}
	server := &http.Server{Handler: forwarder}
	context.AfterFunc(ctx, func() { server.Close() })
	// The server ends only with the context.
	go func() { _ = server.Serve(listener) }()
	return forwarder, nil
}

// PortForward returns the address at which a pod's ports are forwarded.
func (r runtime) PortForward(_ context.Context, request *runtimeapi.PortForwardRequest) (*runtimeapi.PortForwardResponse, error) {
	return r.forwarder.GetPortForward(request)
}

// forwarding connects the forwarded streams.
type forwarding struct{ machine *machine }

// PortForward connects a stream to the same port of this machine: a simulated pod has no
// network of its own.
func (f forwarding) PortForward(ctx context.Context, sandboxID string, port int32, stream io.ReadWriteCloser) error {
	if !f.ready(sandboxID) {
		return notFound("sandbox", sandboxID)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp4", net.JoinHostPort(loopback, strconv.Itoa(int(port))))
	if err != nil {
		return fmt.Errorf("forward port %d: %w", port, err)
	}
	defer conn.Close()
	go func() {
		_, _ = io.Copy(conn, stream)
		// The caller still receives the rest of the response.
		_ = conn.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(stream, conn)
	return stream.Close()
}

func (f forwarding) ready(sandboxID string) bool {
	f.machine.mu.Lock()
	defer f.machine.mu.Unlock()
	sandbox := f.machine.sandboxes[sandboxID]
	return sandbox != nil && sandbox.ready()
}

// Exec is not supported.
func (forwarding) Exec(context.Context, string, []string, io.Reader, io.WriteCloser, io.WriteCloser, bool, <-chan remotecommand.TerminalSize) error {
	return unimplemented("exec")
}

// Attach is not supported.
func (forwarding) Attach(context.Context, string, io.Reader, io.WriteCloser, io.WriteCloser, bool, <-chan remotecommand.TerminalSize) error {
	return unimplemented("attach")
}
