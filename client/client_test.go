package client

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func TestDial(t *testing.T) {
	for _, tc := range []struct {
		name, address string
		opts          []Option
		want          string
	}{
		{"IPv4 loopback in plaintext", "127.0.0.1:7443", nil, ""},
		{"all of 127.0.0.0/8", "127.8.9.10:1", nil, ""},
		{"IPv6 loopback", "[::1]:7443", nil, ""},
		{"IPv4 loopback written as IPv6", "[::ffff:127.0.0.1]:7443", nil, ""},
		{"localhost in any case", "LocalHost:65535", nil, ""},
		{"a token in plaintext on this machine", "localhost:7443", []Option{WithToken("secret")}, ""},
		{"a token in plaintext to another machine", "10.0.0.1:7443", []Option{WithPlaintext(), WithToken("secret")}, "refusing to send a token to 10.0.0.1 in plaintext"},
		{"a token in plaintext to a name that starts with localhost", "localhost.example.com:7443", []Option{WithPlaintext(), WithToken("secret")}, "in plaintext"},
		{"a token in plaintext to the unspecified address", "0.0.0.0:7443", []Option{WithPlaintext(), WithToken("secret")}, "in plaintext"},
		{"another machine", "10.0.0.1:7443", nil, ""},
		{"a host name, with a token", "resizer.example.com:7443", []Option{WithToken("secret")}, ""},
		{"plaintext and TLS", "10.0.0.1:7443", []Option{WithPlaintext(), WithTLS()}, "WithPlaintext cannot be combined with options for TLS"},
		{"plaintext and TLS on this machine", "localhost:7443", []Option{WithPlaintext(), WithTLS()}, "WithPlaintext cannot be combined with options for TLS"},
		{"a missing authority file", "localhost:7443", []Option{WithCAFile("no/such/file")}, "read the certificate authority of the server: open no/such/file"},
		{"a file without an authority", "localhost:7443", []Option{WithCAFile("doc.go")}, "doc.go contains no PEM certificate"},
		{"an option of DialCluster", "localhost:7443", []Option{WithService("a", "b")}, "are for DialCluster"},
		{"a Unix socket, with a token", "unix:///run/resizer.sock", []Option{WithToken("secret"), WithPlaintext()}, ""},
		{"a Unix socket by a relative path", "unix://resizer.sock", nil, `server address "unix://resizer.sock" is not unix:///PATH with the absolute path of a socket`},
		{"a Unix socket by a relative path without slashes", "unix:resizer.sock", nil, "is not unix:///PATH with the absolute path of a socket"},
		{"a Unix socket with one slash", "unix:/run/resizer.sock", nil, "is not unix:///PATH with the absolute path of a socket"},
		{"a Unix socket without a path", "unix:", nil, "is not unix:///PATH with the absolute path of a socket"},
		{"a directory", "unix:///run/", nil, "is not unix:///PATH with the absolute path of a socket"},
		{"an abstract socket", "unix-abstract:resizer", nil, "is an abstract socket, which every user of the machine can reach: use unix:///PATH"},
		{"a Unix socket with the longest path", "unix:///" + strings.Repeat("x", maxSocketPath-1), nil, ""},
		{"a Unix socket with a longer path", "unix:///" + strings.Repeat("x", maxSocketPath), nil, fmt.Sprintf("has a path of %d bytes, and that of a socket may have %d: use a shorter one", maxSocketPath+1, maxSocketPath)},
		{"a Unix socket with TLS", "unix:///run/resizer.sock", []Option{WithTLS()}, "options for TLS cannot be combined with a Unix socket"},
		{"no host", ":7443", nil, "is not host:port"},
		{"no port", "localhost", nil, "is not host:port"},
		{"an empty address", "", nil, "is not host:port"},
		{"a resolver scheme", "dns:///localhost:7443", nil, "is not host:port"},
		{"port 0", "localhost:0", nil, "not a number from 1 to 65535"},
		{"a port name", "localhost:https", nil, "not a number from 1 to 65535"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := Dial(tc.address, tc.opts...)
			if err == nil {
				defer func() { _ = c.Close() }()
			}
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Dial(%q): %v; want an error with %q", tc.address, err, tc.want)
			}
		})
	}
}

func TestClient(t *testing.T) {
	t.Run("checks the resolved address", checksTheResolvedAddress)
	t.Run("retries reads if the server is unavailable", retriesReadsIfTheServerIsUnavailable)
	t.Run("does not retry other errors", doesNotRetryOtherErrors)
	t.Run("returns the message of a server that is not ready, soon and verbatim", returnsTheMessageOfAServerThatIsNotReadySoonAndVerbatim)
	t.Run("is unreachable if no server listens", isUnreachableIfNoServerListens)
	t.Run("gives unary calls a deadline", givesUnaryCallsADeadline)
	t.Run("names the program in the user agent", namesTheProgramInTheUserAgent)
	t.Run("rejects messages above the size limit", rejectsMessagesAboveTheSizeLimit)
}

// The check of the name alone cannot see what the name resolves to.
func checksTheResolvedAddress(t *testing.T) {
	// 192.0.2.1 is reserved for documentation, and is refused before any packet is sent.
	conn, err := dialLoopback(t.Context(), "192.0.2.1:7443")
	if err == nil {
		_ = conn.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "is not on this machine") {
		t.Errorf("got %v, want a refusal", err)
	}
}

func retriesReadsIfTheServerIsUnavailable(t *testing.T) {
	var calls atomic.Int32
	c := dial(t, ratioServer{list: func(context.Context) (*workloadresizerv1.ListRatiosResponse, error) {
		if calls.Add(1) < 3 {
			return nil, notReady()
		}
		return &workloadresizerv1.ListRatiosResponse{Revision: "r1"}, nil
	}}, planServer{})
	resp, err := c.ListRatios(t.Context())
	if err != nil || resp.GetRevision() != "r1" || calls.Load() != 3 {
		t.Errorf("got %v, %v after %d calls; want revision r1 after 3", resp, err, calls.Load())
	}
}

func doesNotRetryOtherErrors(t *testing.T) {
	var calls atomic.Int32
	c := dial(t, ratioServer{}, planServer{pod: func(context.Context, *workloadresizerv1.PreviewPodRequest) (*workloadresizerv1.PreviewPodResponse, error) {
		calls.Add(1)
		return nil, status.Error(codes.NotFound, "there is no pod default/web")
	}})
	_, err := c.PreviewPod(t.Context(), "default", "web")
	if status.Code(err) != codes.NotFound || calls.Load() != 1 {
		t.Errorf("got %v after %d calls; want NotFound after 1", err, calls.Load())
	}
}

// A retry must neither take long nor hide the server's message.
func returnsTheMessageOfAServerThatIsNotReadySoonAndVerbatim(t *testing.T) {
	c := dial(t, ratioServer{list: func(context.Context) (*workloadresizerv1.ListRatiosResponse, error) {
		return nil, notReady()
	}}, planServer{plans: func(*workloadresizerv1.PreviewPlansRequest, planSender) error {
		return notReady()
	}})
	for name, call := range map[string]func() error{
		"unary":  func() error { _, err := c.ListRatios(t.Context()); return err },
		"stream": func() error { return drain(c.PreviewPlans(t.Context(), "")) },
		"raw stream": func() error {
			stream, err := c.Plans().PreviewPlans(t.Context(), &workloadresizerv1.PreviewPlansRequest{})
			if err == nil {
				_, err = stream.Recv()
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			err := call()
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("took %v", took)
			}
			if got, want := status.Convert(err).Message(), "ConfigMap ns/name does not exist"; got != want {
				t.Errorf("message %q, want %q", got, want)
			}
			if Reason(err) != "RATIOS_NOT_READY" || IsUnreachable(err) {
				t.Errorf("Reason %q, IsUnreachable %v", Reason(err), IsUnreachable(err))
			}
		})
	}
}

func isUnreachableIfNoServerListens(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := Dial(address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	start := time.Now()
	if _, err := c.ListRatios(t.Context()); !IsUnreachable(err) {
		t.Errorf("unary: %v is not unreachable", err)
	}
	if err := drain(c.PreviewPlans(t.Context(), "")); !IsUnreachable(err) {
		t.Errorf("stream: %v is not unreachable", err)
	}
	if took := time.Since(start); took > 4*time.Second {
		t.Errorf("took %v", took)
	}
}

func givesUnaryCallsADeadline(t *testing.T) {
	short, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for _, tc := range []struct {
		name    string
		opts    []Option
		ctx     context.Context
		want    time.Duration
		without bool
	}{
		{"uses the default", nil, t.Context(), DefaultTimeout, false},
		{"uses the option", []Option{WithDefaultTimeout(time.Minute)}, t.Context(), time.Minute, false},
		{"prefers the caller's deadline", nil, short, 10 * time.Second, false},
		{"sets none if the option is 0", []Option{WithDefaultTimeout(0)}, t.Context(), 0, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := dial(t, ratioServer{list: func(ctx context.Context) (*workloadresizerv1.ListRatiosResponse, error) {
				deadline, has := ctx.Deadline()
				left := time.Until(deadline)
				if has == tc.without || has && (left > tc.want || left < tc.want-9*time.Second) {
					t.Errorf("the server sees a deadline: %v, in %v", has, left)
				}
				return &workloadresizerv1.ListRatiosResponse{}, nil
			}}, planServer{}, tc.opts...)
			if _, err := c.ListRatios(tc.ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

func namesTheProgramInTheUserAgent(t *testing.T) {
	c := dial(t, ratioServer{list: func(ctx context.Context) (*workloadresizerv1.ListRatiosResponse, error) {
		md, _ := metadata.FromIncomingContext(ctx)
		if got := strings.Join(md.Get("user-agent"), ""); !strings.HasPrefix(got, "tester/v1 ") {
			t.Errorf("user-agent %q", got)
		}
		return &workloadresizerv1.ListRatiosResponse{}, nil
	}}, planServer{}, WithUserAgent("tester/v1"))
	if _, err := c.ListRatios(t.Context()); err != nil {
		t.Error(err)
	}
}

func rejectsMessagesAboveTheSizeLimit(t *testing.T) {
	c := dial(t, ratioServer{list: func(context.Context) (*workloadresizerv1.ListRatiosResponse, error) {
		return &workloadresizerv1.ListRatiosResponse{Revision: strings.Repeat("r", maxReceiveBytes)}, nil
	}}, planServer{})
	if _, err := c.ListRatios(t.Context()); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("got %v, want ResourceExhausted", err)
	}
}

// TestLongestPause checks how often a client tries to reach a server that hangs up on it. With the pauses of gRPC, this would take an hour.
func TestLongestPause(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	attempts := make(chan struct{}, 100)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
			attempts <- struct{}{}
		}
	}()
	c, err := Dial(listener.Addr().String(), WithLongestPause(10*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	for range 30 {
		if _, err := c.Status(t.Context()); err == nil {
			t.Fatal("a server answers that does not exist")
		}
		<-attempts
	}
}
