package connect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/user"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

const defaultTimeout = 30 * time.Second

// Connection selects the server to call, the user, and how long the answer may take.
type Connection struct {
	// server is an address; kube and service select the server of a cluster instead.
	server  string
	kube    kubeconfigFlags
	service string

	plaintext             bool
	authority, serverName string
	certificate, key      string
	tokenFile, account    string
	audience              string

	timeout time.Duration
	// errOut receives notes, unless quiet is set.
	errOut io.Writer
	quiet  bool
	// plugin means that kubectl runs this program, of this version. preferCluster means that the
	// command is about a cluster.
	plugin, preferCluster bool
	version               string
	// flags report which of these were set. pinned has those that select what a variable or the kubeconfig selected when the
	// connection was opened; nil before that.
	flags  *pflag.FlagSet
	pinned map[string]string
}

// Call runs ask with a client of the server, for at most --timeout. It explains the error of
// ask to the user, with what to do about it.
func (c *Connection) Call(ctx context.Context, ask func(context.Context, *client.Client) error) error {
	if err := c.checkTimeout(); err != nil {
		return err
	}
	ctx, cancel := c.limit(ctx)
	defer cancel()
	server, err := c.dial(ctx)
	if err != nil {
		return err
	}
	// A connection that does not close cleanly loses nothing.
	defer func() { _ = server.Close() }()
	return c.explain(ask(ctx, server))
}

// MostOnPage is the most objects that a server returns in one page of a list.
const MostOnPage = 5000

// Opened is a connection for many questions.
type Opened struct {
	*Connection
	server   *client.Client
	identity Identity
}

// longestPause keeps what people look at from staying stale for long after a server is back.
const longestPause = 15 * time.Second

// Open connects to the server, for calls of these methods only. Each question may take --timeout. From then on, the connection, its
// identity and the commands that users copy stay the same, even if the kubeconfig changes.
func (c *Connection) Open(ctx context.Context, methods ...string) (*Opened, error) {
	if err := c.checkTimeout(); err != nil {
		return nil, err
	}
	c.pin()
	id := c.identity()
	limited, cancel := c.limit(ctx)
	defer cancel()
	server, err := c.dial(limited, client.WithMethods(methods...), client.WithLongestPause(longestPause))
	if err != nil {
		return nil, err
	}
	return &Opened{c, server, id}, nil
}

// mostAnswers is how many bytes of memory the answers to one question may take: many times those of a cluster with 10,000 workloads.
const mostAnswers = 128 << 20

// Ask runs ask like Call. It fails if the answers of the server have no end.
func (o *Opened) Ask(ctx context.Context, ask func(context.Context, *client.Client) error) error {
	ctx, cancel := o.limit(ctx)
	defer cancel()
	return o.explain(ask(client.LimitAnswers(ctx, mostAnswers), o.server))
}

// Identity returns where this connection leads.
func (o *Opened) Identity() Identity { return o.identity }

// Close closes the connection.
func (o *Opened) Close() error { return o.server.Close() }

// limit ends a context after --timeout.
func (c *Connection) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, c.timeout)
}

func (c *Connection) checkTimeout() error {
	if c.timeout < 0 {
		return fmt.Errorf("--timeout %s is negative; use 0 for no limit", c.timeout)
	}
	return nil
}

// Stream is like Call for calls without a natural time limit, such as watches and uploads:
// --timeout applies only if it is set.
func (c *Connection) Stream(ctx context.Context, ask func(context.Context, *client.Client) error) error {
	unlimited := *c
	unlimited.LimitTo(0)
	defer func() { c.quiet = unlimited.quiet }()
	return unlimited.Call(ctx, ask)
}

// LimitTo sets how long the answer may take, unless --timeout is set.
func (c *Connection) LimitTo(timeout time.Duration) {
	if !c.flags.Changed("timeout") {
		c.timeout = timeout
	}
}

// dial returns a client of the server that the flags select.
func (c *Connection) dial(ctx context.Context, more ...client.Option) (*client.Client, error) {
	inCluster, err := c.inCluster()
	if err != nil {
		return nil, err
	}
	opts, err := c.options()
	if err != nil {
		return nil, err
	}
	opts = append(opts, more...)
	if inCluster {
		return c.dialCluster(ctx, opts)
	}
	address, local, err := c.address()
	if err != nil {
		return nil, fmt.Errorf("%w; set the address of a server with %s, or use the server of a cluster with --context or --service", err, c.addressFrom())
	}
	if local {
		if err := c.announce(address); err != nil {
			return nil, err
		}
	}
	server, err := client.Dial(address, opts...)
	if err != nil {
		return nil, fmt.Errorf("%w; the address comes from %s; to use the server of a cluster instead, set --context or --service", err, c.addressFrom())
	}
	return server, nil
}

// announce says that nobody selected this server: it may be one that the user has forgotten,
// while the user means the one of a cluster.
func (c *Connection) announce(address string) error {
	path, _, err := client.SocketPath(address)
	if err != nil {
		return fmt.Errorf("use the server on this machine: its address %w; %s", err, c.startOrSelect())
	}
	switch err := client.CheckSocket(path); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("you run no workload-resizer server on this machine: there is no socket %s; %s", path, c.startOrSelect())
	case err != nil:
		return fmt.Errorf("use the server on this machine: %w; %s", err, c.startOrSelect())
	case !c.quiet:
		c.quiet = true // A command may call several times.
		return print.Texts(c.errOut, fmt.Sprintf("note: using your server on this machine, %s; --context or --service selects the server of a cluster", address))
	}
	return nil
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
	if errors.Is(err, errNoCluster) {
		return nil, fmt.Errorf("%w, or the server's address with --server", err)
	}
	if err != nil {
		return nil, err
	}
	server, err := client.DialCluster(ctx, config, opts...)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, c.TooSlow(config.Host)
	}
	if errors.Is(err, client.ErrNotPublished) {
		return nil, fmt.Errorf("%w; %s", err, c.readLogs())
	}
	if err != nil {
		return nil, fmt.Errorf("%w; --kubeconfig and --context select the cluster, and --service %s selects the server; "+
			"--certificate-authority names the authority of its certificate, --plaintext connects to a server without TLS", err, c.service)
	}
	return server, nil
}

// PreferCluster makes the server of the cluster the default, as in the kubectl plugin, for commands
// about a cluster.
func (c *Connection) PreferCluster() { c.preferCluster = true }

// Cluster returns the configuration of the cluster that the kubeconfig flags select, even if another
// flag selects a server elsewhere. Each request waits for at most --timeout.
func (c *Connection) Cluster() (*rest.Config, error) {
	if err := c.checkTimeout(); err != nil {
		return nil, err
	}
	config, err := c.kube.restConfig()
	if err != nil {
		return nil, err
	}
	config.Timeout = c.timeout
	return config, nil
}

// TooSlow returns the error for an API server that does not answer within --timeout.
func (c *Connection) TooSlow(host string) error {
	return fmt.Errorf("the API server %s does not answer within %s; allow more time with --timeout (0 for no limit), or select another cluster with --kubeconfig or --context", host, c.timeout)
}

// Service returns the name of the server's Service in the cluster.
func (c *Connection) Service() (namespace, name string, err error) {
	return nameOf(c.service, "--service")
}

// Author returns the name of the user who runs the program, for servers that do not authenticate
// their callers: for the list of holds and the history.
func Author() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}

// ChoosePod returns the name of the pod that a command is about. If that is a workload or labels, it is
// one of their pods, as in "kubectl logs"; a note says which.
func ChoosePod(ctx context.Context, c *client.Client, errOut io.Writer, p *command.Pod) (string, error) {
	if p.Named() {
		return p.Name, nil
	}
	chosen, pods := "", int64(0)
	for plan, err := range c.PreviewPlans(ctx, p.Namespace, client.OfWorkload(p.Workload()), client.WithLabels(p.Labels)).All() {
		if err != nil {
			return "", err
		}
		if pods++; chosen == "" {
			chosen = plan.GetPod()
		}
	}
	switch workload := p.Workload(); {
	case workload != nil && pods == 0:
		// The server knows workloads only by their pods.
		return "", fmt.Errorf("no pods found in namespace %s of %s: check the name and the namespace, or whether it is scaled to zero", p.Namespace, print.WorkloadName(workload))
	case pods == 0:
		return "", fmt.Errorf("no pods found in namespace %s with labels %s: check the labels and the namespace", p.Namespace, p.Labels)
	}
	return chosen, NoteOf(errOut, p, chosen, pods)
}

// NoteOf says which of several pods of a workload, or with labels, a command is about.
func NoteOf(errOut io.Writer, p *command.Pod, chosen string, pods int64) error {
	if pods <= 1 {
		return nil
	}
	name := p.Labels
	if workload := p.Workload(); workload != nil {
		name = print.WorkloadName(workload)
	}
	return print.Texts(errOut, fmt.Sprintf("note: %s has %s, this is %s", name, print.CountOf(pods, "pod"), print.PodName(print.OneLine(chosen))))
}
