package main_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"
)

// testForwarding forwards a port of a pod to a server on this machine, through the API
// server, the kubelet and the runtime, as kubectl does.
func testForwarding(t *testing.T, config *rest.Config, client kubernetes.Interface) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			line, _ := bufio.NewReader(conn).ReadString('\n')
			fmt.Fprintf(conn, "the pod heard %s", line)
			conn.Close()
		}
	}()
	pod := awaitPod(t, client, "guaranteed")
	url := client.CoreV1().RESTClient().Post().Namespace(namespace).Resource("pods").Name(pod).SubResource("portforward").URL()

	overSPDY, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		t.Fatal(err)
	}
	overWebSocket, err := portforward.NewSPDYOverWebsocketDialerForStreaming(url, config)
	if err != nil {
		t.Fatal(err)
	}
	for name, dialer := range map[string]httpstream.Dialer{
		"over WebSocket": overWebSocket,
		"over SPDY":      spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: overSPDY}, http.MethodPost, url),
	} {
		t.Run(name, func(t *testing.T) {
			stop, ready := make(chan struct{}), make(chan struct{})
			_, port, _ := net.SplitHostPort(listener.Addr().String())
			forwarder, err := portforward.NewForStreaming(dialer, []string{"0:" + port}, stop, ready, io.Discard, t.Output())
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- forwarder.ForwardPorts() }()
			defer func() {
				close(stop)
				if err := <-ended; err != nil {
					t.Error(err)
				}
			}()
			select {
			case <-ready:
			case err := <-ended:
				ended <- nil
				t.Fatal(err)
			}
			ports, err := forwarder.GetPorts()
			if err != nil {
				t.Fatal(err)
			}
			conn, err := net.Dial("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(ports[0].Local))))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			fmt.Fprintln(conn, "hello")
			if heard, err := io.ReadAll(conn); err != nil || strings.TrimSpace(string(heard)) != "the pod heard hello" {
				t.Errorf("heard %q, %v", heard, err)
			}
		})
	}
}
