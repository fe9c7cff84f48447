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

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/configmap"
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
  workload-resizer serve --kubeconfig ~/.kube/config --dry-run`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.complete()
			if err := o.validate(); err != nil {
				return err
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
	grpcListener, err := net.Listen("tcp", o.grpcAddress)
	if err != nil {
		return fmt.Errorf("--grpc-bind-address: %w", err)
	}
	httpListener, err := net.Listen("tcp", o.httpAddress)
	if err != nil {
		return errors.Join(fmt.Errorf("--http-bind-address: %w", err), grpcListener.Close())
	}

	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	events := reconciler.NoEvents()
	if !o.dryRun {
		events = reconciler.NewEvents(clients.events)
	}
	defer events.Shutdown()
	store := ratios.NewStore(configmap.New(clients.main, o.configNamespace, o.configName, events.ConfigRejected))
	holdOptions := []hold.Option{hold.OnReject(events.ConfigRejected)}
	if o.dryRun {
		holdOptions = append(holdOptions, hold.ReadOnly())
	}
	holds := hold.New(clients.main, o.configNamespace, o.holdsName, holdOptions...)
	loop, err := reconciler.New(reconciler.Config{
		Client:  clients.main,
		Dynamic: clients.dynamic,
		Writer:  clients.writer,
		Asker:   clients.asker,
		Ratios:  store,
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
	})
	if err != nil {
		return err
	}
	api := server.New(server.Config{Ratios: store, Reconciler: loop, Holds: holds, Metrics: registry, GRPC: grpcListener, HTTP: httpListener})

	klog.FromContext(ctx).Info("Starting", "version", version, "dryRun", o.dryRun)
	return runAll(ctx, store.Run, holds.Run, loop.Run, api.Run)
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
const writeTimeout = 20 * time.Second

// clients are the connections to the API server. Events and previews have budgets
// of their own, so that they never hold up a resize; writes are bounded in time,
// which watches must not be.
type clients struct {
	main, writer, asker, events kubernetes.Interface
	dynamic                     dynamic.Interface
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
	c := &clients{}
	for _, client := range []struct {
		into   *kubernetes.Interface
		config *rest.Config
	}{{&c.main, config}, {&c.writer, writing}, {&c.asker, writing}, {&c.events, bounded}} {
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
