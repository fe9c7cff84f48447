package localcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	// downTimeout is how long a cluster may take to end. It usually takes a second.
	downTimeout = time.Minute
	// interruptGrace is how long testcluster may take to clean up when it is interrupted.
	interruptGrace = 30 * time.Second
)

// Options configure a cluster. Only Dir is required. Options that are not set have the
// defaults of testcluster.
type Options struct {
	// Dir is the cluster's directory. Leftovers of a crashed cluster are removed from it.
	Dir string
	// Nodes are the nodes as TYPE=COUNT[:OPTION]…,…, e.g. "n2d=2,n4=2". Nodes with an empty
	// TYPE have no type. If Nodes is empty, only the control plane runs. The options are
	// "cpu-manager=static", "speed=FACTOR", "taint=KEY" and, for older kubelets,
	// "kubelet=VERSION"; testcluster's help explains them.
	Nodes string
	// NodeCPU is the number of cores per node.
	NodeCPU int
	// NodeMemory is the memory per node, a quantity such as "32Gi".
	NodeMemory string
	// NodeLabel is the key of the label that holds a node's type.
	NodeLabel string
	// AuditPolicy is the path of the API server's audit policy. The audit log is
	// LogFile("audit"). Without a policy, nothing is audited.
	AuditPolicy string
	// Work declares what containers do that declare nothing themselves, each entry as in
	// testcluster's flag: NAMESPACE/POD/CONTAINER=WORK. Without, containers are idle.
	Work []string
	// TimeScale is how many times faster the clock of the work is.
	TimeScale float64
	// MetricsServer runs bin/metrics-server, which serves metrics.k8s.io. Prometheus runs
	// bin/prometheus, which scrapes the nodes.
	MetricsServer, Prometheus bool
	// Port is the API server's port.
	Port int
	// Stderr receives testcluster's progress; nil discards it.
	Stderr io.Writer
}

// Cluster is a running cluster. It ends with this process at the latest.
type Cluster struct {
	// Dir is the cluster's directory.
	Dir string
	// Kubeconfig is the path of the admin's kubeconfig.
	Kubeconfig string

	binary  string
	config  *rest.Config
	version *version.Version
}

// Up starts a cluster and returns it once all components are ready. If it fails because ctx
// is done, it leaves nothing behind. For clusters without nodes, the environment may select
// another Kubernetes version: see versionVariable.
func Up(ctx context.Context, options Options) (*Cluster, error) {
	binary, err := Binary("testcluster")
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(options.Dir)
	if err != nil {
		return nil, fmt.Errorf("start a cluster: %w", err)
	}
	args, err := options.command(dir)
	if err != nil {
		return nil, fmt.Errorf("start a cluster: %w", err)
	}
	programs, err := controlPlane()
	if err != nil {
		return nil, fmt.Errorf("start a cluster: %w", err)
	}
	if programs != "" {
		args = append(args, "--control-plane", programs)
	}
	c := &Cluster{Dir: dir, binary: binary}
	out, err := c.run(ctx, options.Stderr, args...)
	if err != nil {
		return nil, fmt.Errorf("start a cluster in %s: %w", dir, err)
	}
	c.Kubeconfig = strings.TrimSpace(out)
	if err := c.open(); err != nil {
		return nil, errors.Join(err, c.Down())
	}
	return c, nil
}

// open reads the kubeconfig, and asks the API server for its version.
func (c *Cluster) open() error {
	var err error
	if c.config, err = clientcmd.BuildConfigFromFlags("", c.Kubeconfig); err != nil {
		return fmt.Errorf("read the kubeconfig of the cluster in %s: %w", c.Dir, err)
	}
	// The client must not limit the rate of requests in tests.
	c.config.QPS = -1
	return c.askVersion()
}

func (o *Options) command(dir string) ([]string, error) {
	args := []string{"up", "--dir", dir, "--nodes", o.Nodes, "--owner", strconv.Itoa(os.Getpid())}
	for _, flag := range []struct{ name, value, unset string }{
		{"--node-cpu", strconv.Itoa(o.NodeCPU), "0"},
		{"--node-memory", o.NodeMemory, ""},
		{"--node-label", o.NodeLabel, ""},
		{"--audit-policy", o.AuditPolicy, ""},
		{"--time-scale", strconv.FormatFloat(o.TimeScale, 'g', -1, 64), "0"},
		{"--port", strconv.Itoa(o.Port), "0"},
	} {
		if flag.value != flag.unset {
			args = append(args, flag.name, flag.value)
		}
	}
	for _, work := range o.Work {
		args = append(args, "--work", work)
	}
	for _, program := range []struct {
		name string
		runs bool
	}{{"metrics-server", o.MetricsServer}, {"prometheus", o.Prometheus}} {
		if !program.runs {
			continue
		}
		path, err := Binary(program.name)
		if err != nil {
			return nil, err
		}
		args = append(args, "--"+program.name, path)
	}
	return args, nil
}

// Config returns a copy of the admin's client configuration, without a limit on
// the rate of requests.
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.config) }

// Down stops the cluster and removes its files.
func (c *Cluster) Down() error {
	ctx, cancel := context.WithTimeout(context.Background(), downTimeout)
	defer cancel()
	if _, err := c.run(ctx, nil, "down", "--dir", c.Dir); err != nil {
		return fmt.Errorf("stop the cluster in %s: %w", c.Dir, err)
	}
	return nil
}

// Stop stops a component, e.g. kube-apiserver or node-n4-0, and keeps its data.
func (c *Cluster) Stop(ctx context.Context, component string) error {
	if _, err := c.run(ctx, nil, "stop", "--dir", c.Dir, component); err != nil {
		return fmt.Errorf("stop %s: %w", component, err)
	}
	return nil
}

// Start starts a stopped component again and returns once it is ready.
func (c *Cluster) Start(ctx context.Context, component string) error {
	if _, err := c.run(ctx, nil, "start", "--dir", c.Dir, component); err != nil {
		return fmt.Errorf("start %s: %w", component, err)
	}
	return nil
}

// Dead returns the components that ended unexpectedly. It does not include stopped components.
func (c *Cluster) Dead(ctx context.Context) ([]string, error) {
	// The command fails if a component is not healthy, which is not an error here.
	out, err := c.run(ctx, nil, "status", "--dir", c.Dir)
	if out == "" && err != nil {
		return nil, fmt.Errorf("get the status of the cluster in %s: %w", c.Dir, err)
	}
	var dead []string
	for line := range strings.Lines(out) {
		// COMPONENT PID STATE
		if fields := strings.Fields(line); len(fields) == 3 && fields[2] == "dead" {
			dead = append(dead, fields[0])
		}
	}
	return dead, nil
}

// LogFile returns the path of a component's log.
func (c *Cluster) LogFile(component string) string {
	return filepath.Join(c.Dir, "logs", component+".log")
}

// run runs testcluster and returns its standard output. Its standard error is copied to
// stderr, unless that is nil, and is part of the returned error.
func (c *Cluster) run(ctx context.Context, stderr io.Writer, args ...string) (string, error) {
	command := exec.CommandContext(ctx, c.binary, args...)
	var out, said bytes.Buffer
	command.Stdout = &out
	command.Stderr = &said
	if stderr != nil {
		command.Stderr = io.MultiWriter(&said, stderr)
	}
	// Ctrl-C in a terminal signals the whole process group. Without its own group,
	// testcluster would receive that signal and then the one below, and a second signal
	// would end it during its cleanup.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = interruptGrace
	err := command.Run()
	switch {
	case err == nil:
		return out.String(), nil
	case ctx.Err() != nil:
		return out.String(), errors.Join(context.Cause(ctx), err)
	}
	return out.String(), fmt.Errorf("%w: %s", err, strings.TrimSpace(said.String()))
}
