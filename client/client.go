package client

import (
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

const (
	// maxReceiveBytes is how large one message of the server may be, the same
	// limit that the server sets for itself.
	maxReceiveBytes = 4 << 20
	// keepaliveTime is after how much silence during a call the server is asked
	// for a sign of life. A server may end connections that ask more often than
	// every ten seconds.
	keepaliveTime = 30 * time.Second
	// keepaliveTimeout is how long that sign may take.
	keepaliveTimeout = 10 * time.Second
)

// DefaultTimeout is how long a unary call may take whose context has no
// deadline.
const DefaultTimeout = 30 * time.Second

// Client is a connection to a server. It is safe for concurrent use.
type Client struct {
	conn       *grpc.ClientConn
	ratios     workloadresizerv1.RatioServiceClient
	plans      workloadresizerv1.PlanServiceClient
	resizes    workloadresizerv1.ResizeServiceClient
	pauses     workloadresizerv1.PauseServiceClient
	benchmarks workloadresizerv1.BenchmarkServiceClient
}

// Dial returns a client of the server at address, "host:port". The connection
// is made by the first call, so that a server that is not there shows as the
// error of that call (IsUnreachable), not here.
//
// The connection is encrypted, unless the host is this machine (127.0.0.0/8, ::1
// or localhost) and no option asks for TLS. A server on another machine that does
// not encrypt is reached with WithPlaintext alone.
func Dial(address string, opts ...Option) (*Client, error) {
	o := optionsOf(opts)
	if err := o.cluster.unused(); err != nil {
		return nil, err
	}
	host, err := hostOf(address)
	if err != nil {
		return nil, err
	}
	if !isLocal(host) {
		return o.dial("dns:///"+address, host, false)
	}
	o.extra = append(o.extra, grpc.WithNoProxy())
	if o.tls.wanted {
		return o.dial("passthrough:///"+address, host, false)
	}
	// Nobody asked for TLS, so what follows must not leave this machine.
	o.plaintext = true
	o.extra = append(o.extra, grpc.WithContextDialer(dialLoopback))
	return o.dial("passthrough:///"+address, host, true)
}

// dial makes the client of a target of gRPC's, whose certificate is for host.
// local tells that the connection surely does not leave this machine.
func (o *options) dial(target, host string, local bool) (*Client, error) {
	security := insecure.NewCredentials()
	switch {
	case o.plaintext && o.tls.wanted:
		return nil, errors.New("WithPlaintext excludes the options for TLS")
	case o.plaintext && !local && o.token != nil:
		return nil, fmt.Errorf("a token would go to %s in plaintext, for everybody on the way to read: use TLS, or no token", host)
	case !o.plaintext:
		var err error
		if security, err = o.tls.credentialsFor(host); err != nil {
			return nil, err
		}
	}
	dialOptions := append([]grpc.DialOption{
		grpc.WithTransportCredentials(security),
		grpc.WithUserAgent(o.userAgent),
		grpc.WithDefaultServiceConfig(retryReads),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxReceiveBytes)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepaliveTime, Timeout: keepaliveTimeout}),
		grpc.WithChainUnaryInterceptor(o.plainUnaryErrors, withDefaultTimeout(o.timeout)),
		grpc.WithChainStreamInterceptor(o.plainStreamErrors),
	}, o.extra...)
	if o.token != nil {
		dialOptions = append(dialOptions, grpc.WithPerRPCCredentials(bearer{token: o.token, plaintext: o.plaintext && local}))
	}
	conn, err := grpc.NewClient(target, dialOptions...)
	if err != nil {
		return nil, fmt.Errorf("set up a client of %s: %w", target, err)
	}
	return &Client{
		conn:       conn,
		ratios:     workloadresizerv1.NewRatioServiceClient(conn),
		plans:      workloadresizerv1.NewPlanServiceClient(conn),
		resizes:    workloadresizerv1.NewResizeServiceClient(conn),
		pauses:     workloadresizerv1.NewPauseServiceClient(conn),
		benchmarks: workloadresizerv1.NewBenchmarkServiceClient(conn),
	}, nil
}

// Close ends the connection and every call on it.
func (c *Client) Close() error { return c.conn.Close() }

// Ratios is the generated client of the RatioService.
func (c *Client) Ratios() workloadresizerv1.RatioServiceClient { return c.ratios }

// Plans is the generated client of the PlanService.
func (c *Client) Plans() workloadresizerv1.PlanServiceClient { return c.plans }

// Resizes is the generated client of the ResizeService.
func (c *Client) Resizes() workloadresizerv1.ResizeServiceClient { return c.resizes }

// Pauses is the generated client of the PauseService.
func (c *Client) Pauses() workloadresizerv1.PauseServiceClient { return c.pauses }

// Benchmarks is the generated client of the BenchmarkService.
func (c *Client) Benchmarks() workloadresizerv1.BenchmarkServiceClient { return c.benchmarks }
