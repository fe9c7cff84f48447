package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/server"
)

func newServeCommand() *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Resize the pods of a cluster and serve the API",
		Example: `  # See what would happen to a cluster, without writing to it:
  workload-resizer serve --kubeconfig ~/.kube/config --dry-run

  # Plan manifests without a cluster, by a configuration in a file:
  workload-resizer serve --standalone --config config.yaml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.complete()
			if err := errors.Join(o.validate(), o.validateStandalone(cmd.Flags())); err != nil {
				return err
			}
			if o.standalone {
				return serveStandalone(cmd.Context(), o)
			}
			return serve(cmd.Context(), o)
		},
	}
	o.addTo(cmd.Flags())
	return cmd
}

func serve(ctx context.Context, o *options) error {
	setUpLog(o)
	clients, err := newClients(o)
	if err != nil {
		return err
	}
	encryption, err := newTLS(o)
	if err != nil {
		return err
	}
	grpcListener, httpListener, err := listen(o)
	if err != nil {
		return err
	}

	registry := newRegistry()
	events := reconciler.NoEvents()
	if !o.dryRun {
		events = reconciler.NewEvents(clients.events)
	}
	defer events.Shutdown()
	holdOptions := []hold.Option{hold.OnReject(events.ConfigRejected)}
	if o.dryRun {
		holdOptions = append(holdOptions, hold.ReadOnly())
	}
	holds := hold.New(clients.main, o.configNamespace, o.holdsName, holdOptions...)
	replica, err := newReplicaName()
	if err != nil {
		return err
	}
	elector, err := newElector(o, clients.leases, replica)
	if err != nil {
		return err
	}
	leads := func() bool { return true }
	if elector != nil {
		leads = elector.Leading
	}
	known := newSources(o, clients.main, leads, events.ConfigRejected)
	reconciling := reconciler.Config{
		Client:  clients.main,
		Dynamic: clients.dynamic,
		Writer:  clients.writer,
		Asker:   clients.asker,
		QPS:     o.qps,
		Burst:   o.burst,
		Ratios:  known.store,
		Holds:   holds,
		Planner: reconciler.Planner{
			OwnerKinds: o.ownerKinds,
			NodeTypes:  nodetype.New(o.nodeTypeLabel),
			Sidecars:   o.sidecars,
			External:   reconciler.External(o.externallyResized),
		},
		Events:      events,
		Metrics:     registry,
		Workers:     o.workers,
		RealignRate: o.realignRate,
		DryRun:      o.dryRun,
	}
	serving := server.Config{
		Replica: replica, Version: version,
		Ratios: known.store, Overrides: known.overrides, Holds: holds, Metrics: registry, GRPC: grpcListener, HTTP: httpListener,
		Access: newAccess(o, clients), TLS: encryption,
		Limits: o.limits, Reflection: o.reflection, Channelz: o.channelz,
	}
	if known.benchmarks != nil {
		serving.Benchmarks = known.benchmarks
	}
	if elector != nil {
		reconciling.Leader, serving.Election = elector, elector
	}
	loop, err := reconciler.New(reconciling)
	if err != nil {
		return err
	}
	reconcile := loop.Run
	if elector != nil {
		reconcile = func(ctx context.Context) error { return elector.Run(ctx, loop.Run) }
	}
	serving.Reconciler = loop
	api := server.New(serving)

	klog.FromContext(ctx).Info("Starting", "version", version, "replica", replica, "dryRun", o.dryRun)
	return runAll(ctx, known.store.Run, holds.Run, reconcile, api.Run)
}

// listen listens where the flags say.
func listen(o *options) (grpc, http net.Listener, err error) {
	if grpc, err = net.Listen("tcp", o.grpcAddress); err != nil {
		return nil, nil, fmt.Errorf("--grpc-bind-address: %w", err)
	}
	if http, err = net.Listen("tcp", o.httpAddress); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("--http-bind-address: %w", err), grpc.Close())
	}
	return grpc, http, nil
}

// newRegistry returns a registry with the metrics of the process.
func newRegistry() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return registry
}

// runAll runs all parts until ctx is done or one of them ends, and then has all
// of them end.
func runAll(ctx context.Context, parts ...func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, len(parts))
	var running sync.WaitGroup
	for i, part := range parts {
		running.Go(func() {
			defer cancel()
			errs[i] = part(ctx)
		})
	}
	running.Wait()
	return errors.Join(errs...)
}

// writeTimeout bounds one write to a pod. Time spent waiting for the client's own
// rate does not count.
const writeTimeout = 10 * time.Second

// clients are the connections to the API server. Events, previews, questions about
// callers and the Lease have budgets of their own, so that they never hold up a resize, nor that them;
// writes are bounded in time, which watches must not be.
type clients struct {
	main, writer, asker, events, leases kubernetes.Interface
	tokens, renewals, rights            kubernetes.Interface
	dynamic                             dynamic.Interface
}

func newClients(o *options) (*clients, error) {
	config, err := restConfig(o.kubeconfig)
	if err != nil {
		return nil, err
	}
	config.UserAgent = "workload-resizer/" + version
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON

	config.QPS, config.Burst = o.qps, o.burst
	writing := reconciler.WriterConfig(config, writeTimeout)
	bounded := rest.CopyConfig(config)
	bounded.Timeout = writeTimeout
	electing := rest.CopyConfig(config)
	// One try that gets no answer must leave time for another one.
	electing.Timeout = o.election.renewDeadline / 2
	c := &clients{}
	for _, client := range []struct {
		into   *kubernetes.Interface
		config *rest.Config
	}{{&c.main, config}, {&c.writer, writing}, {&c.asker, writing}, {&c.events, bounded}, {&c.leases, electing}, {&c.tokens, bounded}, {&c.renewals, bounded}, {&c.rights, bounded}} {
		set, err := kubernetes.NewForConfig(client.config)
		if err != nil {
			return nil, fmt.Errorf("set up a client of the API server: %w", err)
		}
		*client.into = set
	}
	if c.dynamic, err = dynamic.NewForConfig(jsonOnly(config)); err != nil {
		return nil, fmt.Errorf("set up a client of the API server: %w", err)
	}
	return c, nil
}

// jsonOnly is for kinds that the API server was taught: it knows them as JSON.
func jsonOnly(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	return config
}

func restConfig(kubeconfig string) (*rest.Config, error) {
	if kubeconfig != "" {
		config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
		if err != nil {
			return nil, fmt.Errorf("--kubeconfig: %w", err)
		}
		return config, nil
	}
	config, err := rest.InClusterConfig()
	if err != nil {
		return nil, fmt.Errorf("this process runs in no cluster, name one with --kubeconfig: %w", err)
	}
	return config, nil
}
