package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/workload-resizer/workload-resizer/agent/cgroup"
)

// reportUsageOptions are the flags of report-usage.
type reportUsageOptions struct {
	serverOptions
	cgroupRoot     string
	sampleInterval time.Duration
}

// The bounds of --usage-sample-interval: reading more often costs more than it shows, and a peak
// between two samples is only partly known.
const (
	leastSampleInterval = time.Second
	mostSampleInterval  = 10 * time.Second
)

func (o *reportUsageOptions) addTo(flags *pflag.FlagSet) {
	o.serverOptions.addTo(flags, "usage", "--server-ca-config-map")
	flags.StringVar(&o.cgroupRoot, "cgroup-root", cgroup.DefaultRoot, "where the cgroup v2 file system of the node is mounted")
	flags.DurationVar(&o.sampleInterval, "usage-sample-interval", 5*time.Second, "time between two readings of each container, from 1s to 10s")
}

// validate returns all problems with the flags.
func (o *reportUsageOptions) validate() error {
	var errs []error
	reject := func(flag, format string, args ...any) {
		errs = append(errs, fmt.Errorf("--%s: "+format, append([]any{flag}, args...)...))
	}
	if o.server == "" {
		reject("server", "is required: the server that collects usage")
	}
	o.serverOptions.validate(reject)
	if o.kubeconfig != "" && o.serverCAConfigMap == "" {
		reject("kubeconfig", "requires --server-ca-config-map")
	}
	if o.sampleInterval < leastSampleInterval || o.sampleInterval > mostSampleInterval {
		reject("usage-sample-interval", "must be from %v to %v, not %v", leastSampleInterval, mostSampleInterval, o.sampleInterval)
	}
	return errors.Join(errs...)
}
