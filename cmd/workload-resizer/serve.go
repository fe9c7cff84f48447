package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/ratios/production"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/loop"
	"github.com/workload-resizer/workload-resizer/reconciler/owners"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/steer"
	"github.com/workload-resizer/workload-resizer/server"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/usage/metricsapi"
)

func newServeCommand() *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Resize the pods in a cluster and serve the API",
		Example: `  # See what would happen to a cluster, without writing to it:
  workload-resizer serve --kubeconfig ~/.kube/config --dry-run

  # Plan manifests without a cluster, by the configuration in a file:
  workload-resizer serve --standalone --config config.yaml`,
		Args: noArguments,
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
	encryption, err := newEncryption(o, clients.main)
	if err != nil {
		return err
	}
	grpcListener, httpListener, err := listen(ctx, o)
	if err != nil {
		return err
	}
	var pprofListener net.Listener
	if o.pprofAddress != "" {
		if pprofListener, err = listenAt(o.pprofAddress); err != nil {
			return fmt.Errorf("--pprof-bind-address: %w", err)
		}
	}

	creating, err := newCreation(o, clients.main, encryption.config)
	if err != nil {
		return err
	}
	registry := newRegistry()
	events := loop.NoEvents()
	if o.events && !o.dryRun {
		events = loop.NewEvents(clients.events)
	}
	defer events.Shutdown()
	holdOptions := []hold.Option{hold.FreezeIn(o.names().Freeze), hold.LookWith(clients.freeze), hold.OnReject(events.ConfigRejected), hold.WithClock(decisionClock)}
	if o.dryRun {
		holdOptions = append(holdOptions, hold.ReadOnly())
	}
	holds := hold.New(clients.main, o.configNamespace, o.names().Holds, holdOptions...)
	replica, err := newReplicaName()
	if err != nil {
		return err
	}
	traces, err := newTraces(ctx, &o.tracing, replica)
	if err != nil {
		return err
	}
	// Runs only when no other replica is waiting for the Lease.
	defer endTraces(traces)
	elector, err := newElector(o, clients.leases, replica)
	if err != nil {
		return err
	}
	leads := func() bool { return true }
	if elector != nil {
		leads = elector.Leading
	}
	kinds, err := owners.ParseResources(o.workloadKinds)
	if err != nil {
		return fmt.Errorf("--workload-kinds: %w", err)
	}
	var l *reconciler.Reconciler // Set before anything runs.
	sizes := func() map[string]map[int]float64 { return l.Sizes() }
	collecting, pushed, err := newUsage(o, clients, func() []string { return l.Cluster.Pods("").Namespaces() })
	if err != nil {
		return err
	}
	var compared production.Evidence
	if collecting != nil {
		compared = collecting.Comparisons
	}
	known := newSources(o, clients.main, leads, sizes, compared, events.ConfigRejected, events.ConfigUnusedTypes)
	recording := newRecorder(o, clients.main, replica, leads, holds, known.overrides, events.ConfigRejected)
	reconciling := reconciler.Config{
		Client:        clients.main,
		Dynamic:       clients.dynamic,
		WorkloadKinds: kinds,
		Metadata:      clients.metadata,
		Writer:        clients.writer,
		Asker:         clients.asker,
		QPS:           o.qps,
		Burst:         o.burst,
		Ratios:        known.store,
		Holds:         holds,
		Planner: plan.Planner{
			OwnerKinds: o.ownerKinds,
			NodeTypes:  nodetype.New(o.nodeTypeLabel),
			Sidecars:   o.sidecars,
			External:   plan.External(o.externallyResized),
		},
		Events:           events,
		Metrics:          registry,
		Workers:          o.workers,
		ResizesPerSecond: policy.DefaultResizesPerSecond,
		Prometheus:       newQuery(&o.usage),
		Journal:          recording,
		DryRun:           o.dryRun,
		Clock:            decisionClock,
	}
	reconciling.Usage = collecting
	if o.startupTaint {
		reconciling.Nodes = clients.nodes.CoreV1().Nodes()
	}
	reconciling.Overload = &reconciler.Overload{
		Nodes: clients.nodes.CoreV1().Nodes(), Sources: []steer.Source{&metricsapi.Nodes{Client: clients.metrics}},
	}
	if pushed != nil {
		reconciling.Overload.Sources = append(reconciling.Overload.Sources, pushed)
	}
	if o.evictPods {
		reconciling.Evictions = &reconciler.Evictions{
			Client: clients.moves, Namespace: o.configNamespace, Name: o.names().Evictions, OnReject: events.ConfigRejected,
		}
	}
	if o.vpaObjects {
		reconciling.VPAs = clients.vpas
	}
	if creating != nil {
		reconciling.Keys = creating.keys.Ring
	}
	issuer := access.NewIssuer(clients.main.Discovery().RESTClient())
	serving := server.Config{
		Replica: replica, Version: build.Version, WorkloadKinds: kinds,
		Ratios: known.store, Overrides: known.overrides, Holds: holds, Journal: recording, Metrics: registry, GRPC: grpcListener, HTTP: httpListener,
		Access: newAccess(o, clients, issuer, o.local(o.grpcAddress)), TLS: encryption.config, Certificate: encryption.certificate,
		Pprof: pprofListener, PprofAccess: newAccess(o, clients, issuer, o.localProfiles()),
		Limits: o.limits, Reflection: o.reflection, Channelz: o.channelz,
	}
	if o.metricsAuthorized {
		serving.MetricsAccess = newAccess(o, clients, issuer, false)
	}
	if known.benchmarks != nil {
		serving.Benchmarks = known.benchmarks
	}
	if known.production != nil {
		serving.Production = known.production
	}
	if traces != nil {
		reconciling.Traces, serving.Traces = traces, traces
	}
	if elector != nil {
		reconciling.Leader, serving.Election = elector, elector
	}
	if l, err = reconciler.New(reconciling); err != nil {
		return err
	}
	reconcile := recording.Around(l.Run)
	if elector != nil {
		work := reconcile
		reconcile = func(ctx context.Context) error { return elector.Run(ctx, l.Filled(), work) }
	}
	if creating != nil {
		reconcile = creating.afterKeys(reconcile)
		serving.Creation = creating.problem
	}
	serving.Reconciler, serving.Demands = l, l.Demands
	if pushed != nil {
		serving.Push = pushed
	}
	api := server.New(serving)

	klog.FromContext(ctx).Info("Starting", "version", build.Version, "replica", replica, "dryRun", o.dryRun)
	parts := []func(context.Context) error{known.store.Run, holds.Run, recording.Run, issuer.Run, reconcile, api.Run}
	if known.benchmarks != nil {
		parts = append(parts, known.benchmarks.Run)
	}
	if known.production != nil {
		parts = append(parts, known.production.Run)
	}
	if encryption.run != nil {
		parts = append(parts, encryption.run)
	}
	if creating != nil {
		parts = append(parts, creating.parts(l.Sizer, registry)...)
	}
	return runAll(ctx, parts...)
}

// listen opens the listeners for the gRPC API and for HTTP.
func listen(ctx context.Context, o *options) (grpc, http net.Listener, err error) {
	if grpc, err = listenAt(o.grpcAddress); err != nil {
		return nil, nil, fmt.Errorf("--grpc-bind-address: %w", err)
	}
	if o.local(o.grpcAddress) && grpc.Addr().Network() == "tcp" {
		klog.FromContext(ctx).Info("Warning: every user of this machine may do everything through the API; listen on a Unix socket, or use TLS", "grpc", grpc.Addr().String())
	}
	if http, err = net.Listen("tcp", o.httpAddress); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("--http-bind-address: %w", err), grpc.Close())
	}
	return grpc, http, nil
}

// listenAt listens at host:port or at a Unix socket.
func listenAt(address string) (net.Listener, error) {
	path, socket, err := client.SocketPath(address)
	switch {
	case err != nil:
		return nil, err
	case socket:
		return listenSocket(path)
	}
	return net.Listen("tcp", address)
}

// newRegistry returns a registry with the metrics of Go and of the process.
func newRegistry() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return registry
}

// runAll runs all parts until ctx is done or one of them ends, then stops them all and
// waits for them.
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
