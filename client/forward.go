package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	discoveryv1client "k8s.io/client-go/kubernetes/typed/discovery/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"
)

// forwarder connects to pods behind a Service through ports that the API server forwards.
type forwarder struct {
	config  *rest.Config
	pods    rest.Interface
	slices  discoveryv1client.EndpointSlicesGetter
	service types.NamespacedName

	mu sync.Mutex
	// last is the pod of the latest connection.
	last string
}

// dial connects to a pod. It tries the previous pod last: a lost connection may mean that
// the pod is going away.
func (f *forwarder) dial(ctx context.Context, _ string) (net.Conn, error) {
	backends, err := f.backends(ctx)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	last := f.last
	f.mu.Unlock()
	var failures []error
	for _, backend := range leastRecent(backends, last) {
		conn, err := f.connect(ctx, backend)
		if err == nil {
			f.mu.Lock()
			f.last = backend.pod
			f.mu.Unlock()
			return conn, nil
		}
		failures = append(failures, fmt.Errorf("forward port %d of pod %s/%s: %w", backend.port, f.service.Namespace, backend.pod, err))
		if ctx.Err() != nil {
			break
		}
	}
	return nil, errors.Join(failures...)
}

// connect forwards the port of one pod.
func (f *forwarder) connect(ctx context.Context, to backend) (net.Conn, error) {
	dialer, err := f.dialerOf(to.pod)
	if err != nil {
		return nil, err
	}
	type answer struct {
		connection httpstream.Connection
		err        error
	}
	answered := make(chan answer, 1)
	go func() {
		connection, _, err := dialer.Dial(portforward.PortForwardProtocolV1Name)
		answered <- answer{connection, err}
	}()
	select {
	case a := <-answered:
		if a.err != nil {
			return nil, a.err
		}
		return newForwardedConn(a.connection, to.port)
	case <-ctx.Done():
		// Dial takes no context, so a connection that it returns too late is closed.
		go func() {
			if a := <-answered; a.err == nil {
				_ = a.connection.Close()
			}
		}()
		return nil, ctx.Err()
	}
}

// dialerOf returns a dialer that connects as kubectl does: over a WebSocket, or over SPDY
// if the API server or a proxy in front of it supports nothing else.
func (f *forwarder) dialerOf(pod string) (httpstream.Dialer, error) {
	url := f.pods.Post().Namespace(f.service.Namespace).Resource("pods").Name(pod).SubResource("portforward").URL()
	overSPDY, upgrader, err := spdy.RoundTripperFor(f.config)
	if err != nil {
		return nil, err
	}
	overWebSocket, err := portforward.NewSPDYOverWebsocketDialerForStreaming(url, f.config)
	if err != nil {
		return nil, err
	}
	return portforward.NewFallbackDialerForStreaming(overWebSocket,
		spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: overSPDY}, http.MethodPost, url),
		func(err error) bool { return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err) }), nil
}
