package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// benchNodeOptions are the flags of bench-node.
type benchNodeOptions struct {
	nodeName     string
	nodeType     string
	output       string
	server       string
	serverCAFile string
	serverName   string
	tokenFile    string
	every        time.Duration
	stateFile    string
	labelNode    bool
	kubeconfig   string
}

func (o *benchNodeOptions) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&o.nodeName, "node-name", "", "name of the node that this runs on (default: the environment variable NODE_NAME, else the host's name)")
	flags.StringVar(&o.nodeType, "node-type", "", "what ratios call this machine, e.g. n4, for the samples of --output")
	flags.StringVar(&o.output, "output", "", "file that samples are appended to, a line of JSON each, as feeds of the format samples are; - is standard output")
	flags.StringVar(&o.server, "server", "", "address of the server that samples are sent to, host:port")
	flags.StringVar(&o.serverCAFile, "server-ca-file", "", "PEM file with the authorities of the server's certificate (default: those of the system)")
	flags.StringVar(&o.serverName, "server-name", "", "name that the server's certificate has to be for, if not the host of --server")
	flags.StringVar(&o.tokenFile, "token-file", "", "file with the token that tells who sends, read again for each call")
	flags.DurationVar(&o.every, "every", 0, "stay, and check the node shortly once in this time, at least an hour; 0 measures once and ends")
	flags.StringVar(&o.stateFile, "state-file", "", "file that keeps over a restart with --every what was measured when, so that it is not measured again")
	flags.BoolVar(&o.labelNode, "label-node", false, "write the CPU model to the label workload-resizer.io/cpu-model of the node")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig file of the cluster, for --label-node; without it, the cluster that the process runs in")
}

// leastPeriod is the least --every: a node is not measured all the time.
const leastPeriod = time.Hour

func (o *benchNodeOptions) complete() error {
	host := ""
	if o.nodeName == "" && os.Getenv("NODE_NAME") == "" {
		var err error
		if host, err = os.Hostname(); err != nil {
			return fmt.Errorf("name this node, or say it by --node-name: %w", err)
		}
	}
	o.nodeName = cmp.Or(o.nodeName, os.Getenv("NODE_NAME"), host)
	return nil
}

// validate returns everything that is wrong with the flags.
func (o *benchNodeOptions) validate() error {
	var errs []error
	reject := func(flag, format string, args ...any) {
		errs = append(errs, fmt.Errorf("--%s: "+format, append([]any{flag}, args...)...))
	}
	if o.output != "" && o.nodeType == "" {
		reject("output", "samples have to tell what type of node was measured: give --node-type too")
	}
	if o.nodeType != "" {
		if err := sample.CheckNodeType(o.nodeType); err != nil {
			reject("node-type", "%v", err)
		}
	}
	if o.output != "" && o.server != "" {
		reject("output", "excludes --server")
	}
	if o.output == "" && o.nodeType != "" {
		reject("node-type", "is for --output; a server knows the types of its nodes")
	}
	if o.server == "" {
		for flag, value := range map[string]string{"server-ca-file": o.serverCAFile, "server-name": o.serverName, "token-file": o.tokenFile} {
			if value != "" {
				reject(flag, "is for --server, and none is given")
			}
		}
	}
	if o.every != 0 && o.every < leastPeriod {
		reject("every", "must be 0 or at least %v, not %v", leastPeriod, o.every)
	}
	if o.every != 0 && o.server == "" && o.output == "" {
		reject("every", "needs somewhere for the samples: --server or --output")
	}
	if o.stateFile != "" && o.every == 0 {
		reject("state-file", "is for --every")
	}
	if o.kubeconfig != "" && !o.labelNode {
		reject("kubeconfig", "is for --label-node")
	}
	return errors.Join(errs...)
}

// try tells of what would fail only after the node was measured.
func (o *benchNodeOptions) try() error {
	if o.tokenFile != "" {
		if _, err := os.ReadFile(o.tokenFile); err != nil {
			return fmt.Errorf("--token-file: %w", err)
		}
	}
	return write(o.output, nil, nil)
}

// dialOptions say how to reach the server.
func (o *benchNodeOptions) dialOptions() []client.Option {
	opts := []client.Option{client.WithUserAgent("workload-resizer-bench-node/" + version)}
	if o.serverCAFile != "" {
		opts = append(opts, client.WithCAFile(o.serverCAFile))
	}
	if o.serverName != "" {
		opts = append(opts, client.WithServerName(o.serverName))
	}
	if o.tokenFile != "" {
		opts = append(opts, client.WithTokenFile(o.tokenFile))
	}
	return opts
}
