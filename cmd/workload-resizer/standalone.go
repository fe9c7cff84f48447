package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/ratios/file"
	"github.com/workload-resizer/workload-resizer/server/standalone"
)

// standaloneFlags are those that mean something without a cluster.
var standaloneFlags = []string{
	"standalone", "config", "owner-kinds", "sidecars", "grpc-bind-address", "http-bind-address", "log-format", "verbosity",
}

// validateStandalone returns everything that is wrong with the flags that were
// given, for a server with or without a cluster.
func (o *options) validateStandalone(flags *pflag.FlagSet) error {
	if !o.standalone {
		if flags.Changed("config") {
			return errors.New("--config: is for --standalone; in a cluster the ratios are in the ConfigMap that --config-name names")
		}
		return nil
	}
	var errs []error
	if o.config == "" {
		errs = append(errs, errors.New("--config: --standalone needs the file with the ratios"))
	}
	flags.Visit(func(f *pflag.Flag) {
		if !slices.Contains(standaloneFlags, f.Name) {
			errs = append(errs, fmt.Errorf("--%s: is for a server with a cluster, and --standalone has none", f.Name))
		}
	})
	return errors.Join(errs...)
}

func serveStandalone(ctx context.Context, o *options) error {
	setUpLog(o)
	grpcListener, httpListener, err := listen(o)
	if err != nil {
		return err
	}
	klog.FromContext(ctx).Info("Starting standalone", "version", version, "config", o.config)
	return standalone.Run(ctx, standalone.Config{
		Source:     file.New(o.config),
		OwnerKinds: o.ownerKinds,
		Sidecars:   o.sidecars,
		Metrics:    newRegistry(),
		GRPC:       grpcListener,
		HTTP:       httpListener,
	})
}
