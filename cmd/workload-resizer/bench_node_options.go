package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// benchNodeOptions are the flags of bench-node.
type benchNodeOptions struct {
	serverOptions
	nodeName  string
	nodeType  string
	output    string
	every     time.Duration
	stateFile string
	labelNode bool
}

func (o *benchNodeOptions) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&o.nodeName, "node-name", "", "name of the node that this command runs on (default: the environment variable NODE_NAME, or else the host name)")
	flags.StringVar(&o.nodeType, "node-type", "", "node type of this machine, as ratios name it, e.g. n4; for the samples in --output")
	flags.StringVar(&o.output, "output", "", "file to append samples to, one JSON object per line, in the samples format of feeds; - is standard output")
	o.serverOptions.addTo(flags, "samples", "--server-ca-config-map and --label-node")
	flags.DurationVar(&o.every, "every", 0, "keep running, and check the node briefly once per period (at least 1h); 0 measures once and exits")
	flags.StringVar(&o.stateFile, "state-file", "", "file that records, with --every, what was measured and when, so that a restart does not measure it again")
	flags.BoolVar(&o.labelNode, "label-node", false, "write the CPU model to the node's label workload-resizer.io/cpu-model")
}

// leastPeriod is the minimum of --every, so that a node is not measured all the time.
const leastPeriod = time.Hour

func (o *benchNodeOptions) complete() error {
	host := ""
	if o.nodeName == "" && os.Getenv("NODE_NAME") == "" {
		var err error
		if host, err = os.Hostname(); err != nil {
			return fmt.Errorf("get the host name, or set --node-name: %w", err)
		}
	}
	o.nodeName = cmp.Or(o.nodeName, os.Getenv("NODE_NAME"), host)
	return nil
}

// validate returns all problems with the flags.
func (o *benchNodeOptions) validate() error {
	var errs []error
	reject := func(flag, format string, args ...any) {
		errs = append(errs, fmt.Errorf("--%s: "+format, append([]any{flag}, args...)...))
	}
	if o.output != "" && o.nodeType == "" {
		reject("output", "samples must name the node type that was measured: also set --node-type")
	}
	if o.nodeType != "" {
		if err := sample.CheckNodeType(o.nodeType); err != nil {
			reject("node-type", "%v", err)
		}
	}
	if o.output != "" && o.server != "" {
		reject("output", "cannot be combined with --server")
	}
	if o.output == "" && o.nodeType != "" {
		reject("node-type", "requires --output; with --server, the server knows the types of its nodes")
	}
	o.serverOptions.validate(reject)
	if o.every != 0 && o.every < leastPeriod {
		reject("every", "must be 0 or at least %v, not %v", leastPeriod, o.every)
	}
	if o.every != 0 && o.server == "" && o.output == "" {
		reject("every", "requires a destination for the samples: set --server or --output")
	}
	if o.stateFile != "" && o.every == 0 {
		reject("state-file", "requires --every")
	}
	if o.kubeconfig != "" && !o.labelNode && o.serverCAConfigMap == "" {
		reject("kubeconfig", "requires --label-node or --server-ca-config-map")
	}
	return errors.Join(errs...)
}

// try finds errors that would otherwise occur only after the node was measured.
func (o *benchNodeOptions) try() error {
	if err := o.serverOptions.try(); err != nil {
		return err
	}
	_, err := os.Stat(o.output)
	missing := errors.Is(err, fs.ErrNotExist)
	if err := write(o.output, nil, nil); err != nil {
		return err
	}
	if missing && o.output != "-" {
		// Without it, a measurement that fails leaves no empty file.
		_ = os.Remove(o.output)
	}
	return nil
}
