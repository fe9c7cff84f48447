package client

import (
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// maxReceiveBytes is how large one message of the server may be, the same
// limit that the server sets for itself.
const maxReceiveBytes = 4 << 20

// DefaultTimeout is how long a unary call may take whose context has no
// deadline.
const DefaultTimeout = 30 * time.Second

// Client is a connection to a server. It is safe for concurrent use.
type Client struct {
	conn   *grpc.ClientConn
	ratios workloadresizerv1.RatioServiceClient
	plans  workloadresizerv1.PlanServiceClient
	holds  workloadresizerv1.HoldServiceClient
}

// Option changes how Dial sets up a Client.
type Option func(*options)

type options struct {
	timeout   time.Duration
	userAgent string
}

// WithDefaultTimeout replaces DefaultTimeout; 0 lets a call without a deadline
// take as long as it takes.
func WithDefaultTimeout(d time.Duration) Option {
	return func(o *options) { o.timeout = d }
}

// WithUserAgent names the calling program to the server, e.g. "resizectl/v1.2.3".
func WithUserAgent(name string) Option {
	return func(o *options) { o.userAgent = name }
}

// Dial returns a client of the server at address, "host:port". The connection
// is made by the first call, so that a server that is not there shows as the
// error of that call (IsUnreachable), not here.
//
// Nothing is encrypted and nobody proves who they are, so the host must be this
// machine: 127.0.0.0/8, ::1 or localhost. Any other is an error.
func Dial(address string, opts ...Option) (*Client, error) {
	o := options{timeout: DefaultTimeout}
	for _, set := range opts {
		set(&o)
	}
	if err := checkAddress(address); err != nil {
		return nil, err
	}
	conn, err := grpc.NewClient("passthrough:///"+address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(dialLoopback),
		grpc.WithNoProxy(),
		grpc.WithUserAgent(o.userAgent),
		grpc.WithDefaultServiceConfig(retryReads),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxReceiveBytes)),
		grpc.WithChainUnaryInterceptor(plainUnaryErrors, withDefaultTimeout(o.timeout)),
		grpc.WithChainStreamInterceptor(plainStreamErrors),
	)
	if err != nil {
		return nil, fmt.Errorf("set up a client of %s: %w", address, err)
	}
	return &Client{
		conn:   conn,
		ratios: workloadresizerv1.NewRatioServiceClient(conn),
		plans:  workloadresizerv1.NewPlanServiceClient(conn),
		holds:  workloadresizerv1.NewHoldServiceClient(conn),
	}, nil
}

// Close ends the connection and every call on it.
func (c *Client) Close() error { return c.conn.Close() }

// Ratios is the generated client of the RatioService.
func (c *Client) Ratios() workloadresizerv1.RatioServiceClient { return c.ratios }

// Plans is the generated client of the PlanService.
func (c *Client) Plans() workloadresizerv1.PlanServiceClient { return c.plans }

// Holds is the generated client of the HoldService.
func (c *Client) Holds() workloadresizerv1.HoldServiceClient { return c.holds }
