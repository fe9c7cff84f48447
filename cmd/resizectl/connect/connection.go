package connect

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/workload-resizer/workload-resizer/client"
)

const defaultTimeout = 30 * time.Second

// Connection says which server is asked, who asks, and how long it may take to
// answer.
type Connection struct {
	// server is an address; kube and service lead to the server of a cluster
	// instead.
	server  string
	kube    kubeconfigFlags
	service string

	plaintext             bool
	authority, serverName string
	certificate, key      string
	tokenFile, account    string
	audience              string

	timeout time.Duration
	// plugin tells that kubectl runs this program, which has this version.
	plugin  bool
	version string
	// flags tell which of these were given.
	flags *pflag.FlagSet
}

// Call runs ask with a client of the server, for as long as --timeout says. What
// ask returns comes back in words for people, with what they can do about it.
func (c *Connection) Call(ctx context.Context, ask func(context.Context, *client.Client) error) error {
	if c.timeout < 0 {
		return fmt.Errorf("--timeout %s is negative; 0 is no limit", c.timeout)
	}
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	server, err := c.dial(ctx)
	if err != nil {
		return err
	}
	// Nothing is lost by a connection that does not close cleanly.
	defer func() { _ = server.Close() }()
	return c.explain(ask(ctx, server))
}

// Stream is Call for what goes on until somebody ends it, or for as long as there is
// something to send: --timeout holds only if it was given.
func (c *Connection) Stream(ctx context.Context, ask func(context.Context, *client.Client) error) error {
	unlimited := *c
	unlimited.LimitTo(0)
	return unlimited.Call(ctx, ask)
}

// LimitTo sets how long it may take to answer, unless --timeout says so.
func (c *Connection) LimitTo(timeout time.Duration) {
	if !c.flags.Changed("timeout") {
		c.timeout = timeout
	}
}

// dial returns a client of the server that the flags lead to.
func (c *Connection) dial(ctx context.Context) (*client.Client, error) {
	inCluster, err := c.inCluster()
	if err != nil {
		return nil, err
	}
	opts, err := c.options()
	if err != nil {
		return nil, err
	}
	if inCluster {
		return c.dialCluster(ctx, opts)
	}
	server, err := client.Dial(c.server, opts...)
	if err != nil {
		return nil, fmt.Errorf("%w\nthe address comes from %s; without it, --context or --service leads to the server of a cluster", err, c.addressFrom())
	}
	return server, nil
}

func (c *Connection) dialCluster(ctx context.Context, opts []client.Option) (*client.Client, error) {
	namespace, name, err := nameOf(c.service, "--service")
	if err != nil {
		return nil, err
	}
	opts = append(opts, client.WithService(namespace, name))
	if account, namedBy := c.askAs(); account != "" {
		namespace, name, err := nameOf(account, namedBy)
		if err != nil {
			return nil, err
		}
		opts = append(opts, client.WithServiceAccountToken(namespace, name))
	}
	if c.flags.Changed("token-audience") {
		opts = append(opts, client.WithTokenAudience(c.audience))
	}
	config, err := c.kube.restConfig()
	if err != nil {
		return nil, err
	}
	server, err := client.DialCluster(ctx, config, opts...)
	if err != nil {
		return nil, fmt.Errorf("%w\nthe cluster is that of --kubeconfig and --context, the server is behind --service %s;\n"+
			"--certificate-authority names the authority of its certificate, --plaintext asks a server that does not encrypt", err, c.service)
	}
	return server, nil
}
