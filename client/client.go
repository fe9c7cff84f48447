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
	// maxReceiveBytes is the maximum size of a message from the server. The server
	// sets the same limit for itself.
	maxReceiveBytes = 4 << 20
	// keepaliveTime is how long a connection may be silent during a call before the
	// client pings the server. A server may close connections that ping more often
	// than every ten seconds.
	keepaliveTime = 30 * time.Second
	// keepaliveTimeout is how long the answer to a ping may take.
	keepaliveTimeout = 10 * time.Second
)

// DefaultTimeout is how long a unary call may take if its context has no deadline.
const DefaultTimeout = 30 * time.Second

// Client is a connection to a server. It is safe for concurrent use.
type Client struct {
	conn       *grpc.ClientConn
	ratios     workloadresizerv1.RatioServiceClient
	overrides  workloadresizerv1.OverrideServiceClient
	plans      workloadresizerv1.PlanServiceClient
	resizes    workloadresizerv1.ResizeServiceClient
	holds      workloadresizerv1.HoldServiceClient
	status     workloadresizerv1.StatusServiceClient
	benchmarks workloadresizerv1.BenchmarkServiceClient
	usage      workloadresizerv1.UsageServiceClient
	explain    workloadresizerv1.ExplainServiceClient
	cluster    workloadresizerv1.ClusterServiceClient
	journal    workloadresizerv1.JournalServiceClient
}

// Dial returns a client of the server at address, "host:port", or "unix:///path" for a Unix
// socket of a server on this machine (see LocalAddress). The first call connects, so an
// unreachable server is an error of that call (IsUnreachable), not of Dial.
//
// The connection is encrypted, unless the host is this machine (127.0.0.0/8, ::1
// or localhost) and no option asks for TLS. Only WithPlaintext reaches a server without
// TLS on another machine.
func Dial(address string, opts ...Option) (*Client, error) {
	o := optionsOf(opts)
	if err := o.cluster.unused(); err != nil {
		return nil, err
	}
	path, socket, err := SocketPath(address)
	switch {
	case err != nil:
		return nil, fmt.Errorf("server address %w", err)
	case socket:
		return o.dialSocket(path)
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
	// No option asks for TLS, so the connection must not leave this machine.
	o.plaintext = true
	o.extra = append(o.extra, grpc.WithContextDialer(dialLoopback))
	return o.dial("passthrough:///"+address, host, true)
}

// dial returns a client of a gRPC target whose certificate is for host. local means that
// the connection is known not to leave this machine.
func (o *options) dial(target, host string, local bool) (*Client, error) {
	security := insecure.NewCredentials()
	switch {
	case o.plaintext && o.tls.wanted:
		return nil, errors.New("WithPlaintext cannot be combined with options for TLS")
	case o.plaintext && !local && o.token != nil:
		return nil, fmt.Errorf("refusing to send a token to %s in plaintext: use TLS, or no token", host)
	case !o.plaintext:
		var err error
		if security, err = o.tls.credentialsFor(host); err != nil {
			return nil, err
		}
	}
	dialOptions := append([]grpc.DialOption{
		grpc.WithTransportCredentials(security),
		grpc.WithUserAgent(o.userAgent),
		grpc.WithDefaultServiceConfig(retries),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxReceiveBytes)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepaliveTime, Timeout: keepaliveTimeout}),
		grpc.WithChainUnaryInterceptor(o.plainUnaryErrors, withDefaultTimeout(o.timeout), o.fillIn, limitUnary),
		grpc.WithChainStreamInterceptor(o.plainStreamErrors),
	}, o.extra...)
	if o.token != nil {
		dialOptions = append(dialOptions, grpc.WithPerRPCCredentials(bearer{token: o.token, plaintext: o.plaintext && local}))
	}
	conn, err := grpc.NewClient(target, dialOptions...)
	if err != nil {
		return nil, fmt.Errorf("create a client for %s: %w", target, err)
	}
	return &Client{
		conn:       conn,
		ratios:     workloadresizerv1.NewRatioServiceClient(conn),
		overrides:  workloadresizerv1.NewOverrideServiceClient(conn),
		plans:      workloadresizerv1.NewPlanServiceClient(conn),
		resizes:    workloadresizerv1.NewResizeServiceClient(conn),
		holds:      workloadresizerv1.NewHoldServiceClient(conn),
		status:     workloadresizerv1.NewStatusServiceClient(conn),
		benchmarks: workloadresizerv1.NewBenchmarkServiceClient(conn),
		usage:      workloadresizerv1.NewUsageServiceClient(conn),
		explain:    workloadresizerv1.NewExplainServiceClient(conn),
		cluster:    workloadresizerv1.NewClusterServiceClient(conn),
		journal:    workloadresizerv1.NewJournalServiceClient(conn),
	}, nil
}

// Close closes the connection and ends every call on it.
func (c *Client) Close() error { return c.conn.Close() }

// Ratios returns the generated client of the RatioService.
func (c *Client) Ratios() workloadresizerv1.RatioServiceClient { return c.ratios }

// Overrides returns the generated client of the OverrideService.
func (c *Client) Overrides() workloadresizerv1.OverrideServiceClient { return c.overrides }

// Plans returns the generated client of the PlanService.
func (c *Client) Plans() workloadresizerv1.PlanServiceClient { return c.plans }

// Resizes returns the generated client of the ResizeService.
func (c *Client) Resizes() workloadresizerv1.ResizeServiceClient { return c.resizes }

// Holds returns the generated client of the HoldService.
func (c *Client) Holds() workloadresizerv1.HoldServiceClient { return c.holds }

// Benchmarks returns the generated client of the BenchmarkService.
func (c *Client) Benchmarks() workloadresizerv1.BenchmarkServiceClient { return c.benchmarks }

// Cluster returns the generated client of the ClusterService.
func (c *Client) Cluster() workloadresizerv1.ClusterServiceClient { return c.cluster }

// Journal returns the generated client of the JournalService.
func (c *Client) Journal() workloadresizerv1.JournalServiceClient { return c.journal }

// Usage returns the generated client of the UsageService.
func (c *Client) Usage() workloadresizerv1.UsageServiceClient { return c.usage }
