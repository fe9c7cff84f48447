package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/ratios/file"
	"github.com/workload-resizer/workload-resizer/reconciler/owners"
	"github.com/workload-resizer/workload-resizer/server/standalone"
)

// standaloneFlags are the flags that apply without a cluster.
var standaloneFlags = []string{
	"standalone", "config", "owner-kinds", "workload-kinds", "sidecars", "grpc-bind-address", "http-bind-address", "log-format", "verbosity",
}

// validateStandalone returns all problems with flags that do not fit the mode: with a
// cluster or without.
func (o *options) validateStandalone(flags *pflag.FlagSet) error {
	if !o.standalone {
		if flags.Changed("config") {
			return errors.New("--config: requires --standalone; in a cluster, the ratios are in the ConfigMap that --config-name names")
		}
		return nil
	}
	var errs []error
	if o.config == "" {
		errs = append(errs, errors.New("--config: --standalone requires a file with the ratios"))
	}
	flags.Visit(func(f *pflag.Flag) {
		if !slices.Contains(standaloneFlags, f.Name) {
			errs = append(errs, fmt.Errorf("--%s: requires a cluster, and --standalone runs without one", f.Name))
		}
	})
	return errors.Join(errs...)
}

func serveStandalone(ctx context.Context, o *options) error {
	setUpLog(o)
	grpcListener, httpListener, err := listen(ctx, o)
	if err != nil {
		return err
	}
	kinds, err := owners.ParseResources(o.workloadKinds)
	if err != nil {
		return fmt.Errorf("--workload-kinds: %w", err)
	}
	klog.FromContext(ctx).Info("Starting standalone", "version", build.Version, "config", o.config)
	return standalone.Run(ctx, standalone.Config{
		Source:     file.New(o.config),
		OwnerKinds: o.ownerKinds, WorkloadKinds: kinds,
		Sidecars: o.sidecars,
		Metrics:  newRegistry(),
		GRPC:     grpcListener,
		HTTP:     httpListener,
	})
}
