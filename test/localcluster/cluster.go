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
	// downTimeout bounds how long a cluster may take to end; it takes a second.
	downTimeout = time.Minute
	// interruptGrace is how long testcluster may take to clean up behind itself
	// when it is interrupted.
	interruptGrace = 30 * time.Second
)

// Options say what cluster to bring up. Only Dir is required; what is not set
// is as testcluster has it.
type Options struct {
	// Dir is the cluster's directory. A leftover of a cluster that crashed
	// there is cleaned up.
	Dir string
	// Nodes are the nodes as TYPE=COUNT[:OPTION]…,…, e.g. "n2d=2,n4=2"; an empty
	// TYPE makes nodes without a type; "" is the control plane alone. The options
	// are "cpu-manager=static" and, for older kubelets, "kubelet=VERSION", as
	// testcluster's help explains them.
	Nodes string
	// NodeCPU is in cores, per node.
	NodeCPU int
	// NodeMemory is a quantity, e.g. "32Gi", per node.
	NodeMemory string
	// NodeLabel is the key of the label that holds a node's type.
	NodeLabel string
	// AuditPolicy is the path of the API server's audit policy; what it has
	// logged is in LogFile("audit"). Nothing is audited without it.
	AuditPolicy string
	// Port is the API server's.
	Port int
	// Stderr receives testcluster's progress; nil discards it.
	Stderr io.Writer
}

// Cluster is a running cluster. It ends with this process if nothing ends it
// before.
type Cluster struct {
	// Dir is the cluster's directory.
	Dir string
	// Kubeconfig is the path of the admin's kubeconfig.
	Kubeconfig string

	binary  string
	config  *rest.Config
	version *version.Version
}

// Up brings a cluster up and returns it once all of it is ready. Where that
// fails because ctx is done, nothing of it is left. Without nodes, the
// environment may choose another Kubernetes version, see versionVariable.
func Up(ctx context.Context, options Options) (*Cluster, error) {
	binary, err := Binary("testcluster")
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(options.Dir)
	if err != nil {
		return nil, fmt.Errorf("bring a cluster up: %w", err)
	}
	args := options.command(dir)
	programs, err := controlPlane()
	if err != nil {
		return nil, fmt.Errorf("bring a cluster up: %w", err)
	}
	if programs != "" {
		args = append(args, "--control-plane", programs)
	}
	c := &Cluster{Dir: dir, binary: binary}
	out, err := c.run(ctx, options.Stderr, args...)
	if err != nil {
		return nil, fmt.Errorf("bring a cluster up in %s: %w", dir, err)
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
	// What slows a test down is the cluster, not a limit on this side.
	c.config.QPS = -1
	return c.askVersion()
}

func (o *Options) command(dir string) []string {
	args := []string{"up", "--dir", dir, "--nodes", o.Nodes, "--owner", strconv.Itoa(os.Getpid())}
	for _, flag := range []struct{ name, value, unset string }{
		{"--node-cpu", strconv.Itoa(o.NodeCPU), "0"},
		{"--node-memory", o.NodeMemory, ""},
		{"--node-label", o.NodeLabel, ""},
		{"--audit-policy", o.AuditPolicy, ""},
		{"--port", strconv.Itoa(o.Port), "0"},
	} {
		if flag.value != flag.unset {
			args = append(args, flag.name, flag.value)
		}
	}
	return args
}

// Config returns a copy of the admin's client configuration, without a limit on
// the rate of requests.
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.config) }

// Down ends the cluster and removes its files.
func (c *Cluster) Down() error {
	ctx, cancel := context.WithTimeout(context.Background(), downTimeout)
	defer cancel()
	if _, err := c.run(ctx, nil, "down", "--dir", c.Dir); err != nil {
		return fmt.Errorf("take the cluster in %s down: %w", c.Dir, err)
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

// Dead returns the components that have ended by themselves; those that were
// stopped are not among them.
func (c *Cluster) Dead(ctx context.Context) ([]string, error) {
	// The command fails where something is amiss, which is no error here.
	out, err := c.run(ctx, nil, "status", "--dir", c.Dir)
	if out == "" && err != nil {
		return nil, fmt.Errorf("look at the cluster in %s: %w", c.Dir, err)
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

// LogFile is the path of a component's log.
func (c *Cluster) LogFile(component string) string {
	return filepath.Join(c.Dir, "logs", component+".log")
}

// run runs testcluster and returns what it wrote to stdout. Its stderr goes to
// stderr, and into the error if there is no such writer.
func (c *Cluster) run(ctx context.Context, stderr io.Writer, args ...string) (string, error) {
	command := exec.CommandContext(ctx, c.binary, args...)
	var out, said bytes.Buffer
	command.Stdout = &out
	command.Stderr = &said
	if stderr != nil {
		command.Stderr = io.MultiWriter(&said, stderr)
	}
	// Ctrl-C in a terminal goes to its whole process group. Without one of its
	// own, testcluster would get that and then the signal below, and a second
	// signal would end it in the middle of its cleaning up.
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
