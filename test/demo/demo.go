package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

const (
	// nodes are as fast as the sample configuration says.
	nodes = "n2d=2,n4=2:speed=1.25,c3=2:speed=1.3"
	// The server's default addresses are used if they are free, so that the suggested
	// commands are short.
	defaultHTTPAddress = "127.0.0.1:7444"

	readyTimeout  = time.Minute
	settleTimeout = 2 * time.Minute
)

// sampleWork is what the samples do. Their containers fit the limits in the manifests, on every
// node type.
var sampleWork = []string{
	"samples/web-*/web={cpu: [{constant: 350m}, {wave: 300m, period: 10m}, {noise: 10}], memory: 640Mi}",
	"samples/api-*/api={cpu: [{constant: 150m}, {wave: 150m, period: 5m}, {noise: 20}], memory: 180Mi}",
	"samples/db-*/postgres={cpu: [{constant: 700m}, {noise: 10}], memory: 1536Mi}",
	"samples/*/*={cpu: [{constant: 30m}, {noise: 20}], memory: 40Mi}",
}

// demo is one run of the demo.
type demo struct {
	// dir is the directory for the cluster, the log and credentials.
	dir string
	// out receives the table and the summary.
	out      io.Writer
	progress *progress

	cluster    *localcluster.Cluster
	kubernetes kubernetes.Interface
	log        *os.File
	server     *localcluster.Server
	api        *client.Client
	pods       *tracker
}

func newDemo(dir string, out, progress io.Writer) *demo {
	return &demo{dir: dir, out: out, progress: newProgress(progress)}
}

// run runs the demo until ctx is done, which is never an error, or until the workloads are
// settled if exitWhenSettled is set. Everything that it started has ended when it returns.
func (d *demo) run(ctx context.Context, exitWhenSettled bool) (err error) {
	defer func() { err = errors.Join(err, d.end()) }()
	// alive also ends when a part of the demo dies, with that as the cause.
	alive, fail := context.WithCancelCause(ctx)
	defer fail(nil)

	err = d.start(alive, fail)
	switch {
	case ctx.Err() != nil:
		d.progress.say("interrupted")
		return nil
	case err != nil:
		return cause(alive, err)
	}
	err = d.show(alive, exitWhenSettled)
	if ctx.Err() != nil {
		return nil
	}
	return cause(alive, err)
}

// cause returns the cause of the end of ctx, which explains err, or err if ctx is not done.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// start starts the cluster, the workloads and the server.
func (d *demo) start(ctx context.Context, fail context.CancelCauseFunc) error {
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return err
	}
	if err := d.startCluster(ctx, fail); err != nil {
		return err
	}
	d.progress.say("applying deploy/base, deploy/samples/config.yaml and deploy/samples/workloads.yaml")
	manifests := append(deploy.Base(), deploy.SampleConfig(), deploy.SampleWorkloads())
	if err := localcluster.Apply(ctx, d.cluster.Config(), manifests...); err != nil {
		return err
	}
	var err error
	if d.pods, err = startTracker(ctx, d.kubernetes, d.out); err != nil {
		return err
	}
	return d.startServer(ctx, fail)
}

func (d *demo) startCluster(ctx context.Context, fail context.CancelCauseFunc) error {
	d.progress.say("starting a cluster with the nodes %s", nodes)
	cluster, err := localcluster.Up(ctx, localcluster.Options{
		Dir:    filepath.Join(d.dir, "cluster"),
		Nodes:  nodes,
		Work:   sampleWork,
		Stderr: d.progress,

		MetricsServer: true,
	})
	if err != nil {
		return err
	}
	d.cluster = cluster
	if err := d.removeKubeconfigs(); err != nil {
		return err
	}
	go watchCluster(ctx, cluster, fail)
	d.kubernetes, err = kubernetes.NewForConfig(cluster.Config())
	return err
}

func (d *demo) startServer(ctx context.Context, fail context.CancelCauseFunc) error {
	options, err := d.serverOptions(ctx)
	if err != nil {
		return err
	}
	d.progress.say("starting the server at %s as ServiceAccount %s/%s; its log is %s", options.GRPCAddress, deploy.Namespace, deploy.ServiceAccount, d.log.Name())
	if d.server, err = localcluster.StartServer(ctx, options); err != nil {
		return err
	}
	go watchServer(ctx, d.server, d.log.Name(), fail)
	if d.api, err = client.Dial(d.server.GRPCAddress); err != nil {
		return err
	}
	ready, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	if err := d.server.WaitReady(ready); err != nil {
		return err
	}
	d.progress.say("everything is up")
	return nil
}

func (d *demo) serverOptions(ctx context.Context) (options localcluster.ServerOptions, err error) {
	if d.log, err = createLog(filepath.Join(d.dir, "server.log")); err != nil {
		return options, err
	}
	options.Log = d.log
	options.Kubeconfig, err = localcluster.ServiceAccountKubeconfig(ctx, d.cluster.Config(), deploy.Namespace, deploy.ServiceAccount, d.dir)
	if err != nil {
		return options, err
	}
	if options.GRPCAddress, err = freeSocket(); err != nil {
		return options, err
	}
	options.HTTPAddress, err = localcluster.FreeAddress(defaultHTTPAddress)
	return options, err
}

// freeSocket returns the address of the socket where resizectl looks or, if a server listens
// there, a free address on loopback.
func freeSocket() (string, error) {
	address, err := client.LocalAddress()
	if err != nil {
		return localcluster.FreeAddress("")
	}
	path, _, err := client.SocketPath(address)
	if err != nil {
		return localcluster.FreeAddress("")
	}
	conn, err := net.Dial("unix", path)
	if err != nil {
		return address, nil
	}
	_ = conn.Close() // Nothing was sent.
	return localcluster.FreeAddress("")
}

// createLog creates a file that only its owner may read, regardless of the mode of the previous
// demo's log, which it replaces.
func createLog(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// removeKubeconfigs removes the server's kubeconfig, which contains a token, and kubeconfigs that
// a killed demo left behind. Only call it while this demo owns the cluster: otherwise, another
// demo may be running in the directory.
func (d *demo) removeKubeconfigs() error {
	names, err := fs.Glob(os.DirFS(d.dir), "*.kubeconfig*")
	if err != nil {
		return fmt.Errorf("find kubeconfigs to remove: %w", err)
	}
	var errs []error
	for _, name := range names {
		errs = append(errs, os.Remove(filepath.Join(d.dir, name)))
	}
	return errors.Join(errs...)
}

// show waits for the workloads, prints a summary, and waits for the end. The tracker keeps
// printing the table in the meantime.
func (d *demo) show(ctx context.Context, exitWhenSettled bool) error {
	plans, err := d.settle(ctx)
	var unsettled *unsettledError
	switch {
	case errors.As(err, &unsettled) && !exitWhenSettled:
		d.progress.say("%v", err)
	case err != nil:
		return err
	}
	if err := d.printSummary(plans); err != nil {
		return fmt.Errorf("print the summary: %w", err)
	}
	if exitWhenSettled {
		return nil
	}
	d.progress.say("new resizes appear here; press Ctrl-C to end everything")
	<-ctx.Done()
	return context.Cause(ctx)
}

// end ends everything that was started.
func (d *demo) end() error {
	var errs []error
	if d.api != nil {
		errs = append(errs, d.api.Close())
	}
	if d.server != nil {
		d.progress.say("stopping the server")
		select {
		case <-d.server.Done(): // watchServer reports how it ended.
		default:
			errs = append(errs, d.server.Stop())
		}
	}
	if d.log != nil {
		errs = append(errs, d.log.Close())
	}
	if d.cluster != nil {
		errs = append(errs, d.removeKubeconfigs())
		d.progress.say("stopping the cluster")
		errs = append(errs, d.cluster.Down())
	}
	d.progress.say("done")
	return errors.Join(errs...)
}
