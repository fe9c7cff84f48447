package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/agent"
	"github.com/workload-resizer/workload-resizer/agent/deliver"
	"github.com/workload-resizer/workload-resizer/agent/kernel"
	"github.com/workload-resizer/workload-resizer/agent/nodelabel"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

func newBenchNodeCommand() *cobra.Command {
	o := &benchNodeOptions{}
	cmd := &cobra.Command{
		Use:   "bench-node",
		Short: "Measure how fast this node is",
		Long: `Measure how fast this node is. A run takes at most 20 seconds, at the lowest
priority. It measures the throughput of all vCPUs together and of one alone, in
several kernels that compute as servers do, and the throughput of memory.

Scores count CPU time, not wall-clock time: work per second of thread run time,
multiplied by the number of vCPUs. With a CPU quota, a run takes longer and fewer
kernels fit into it, but only memory scores change. Samples state how much CPU time
other processes used during the run, which gives them less weight. A run is
discarded if the hypervisor took more than 1% of the CPU time or, if vCPUs share
cores, other processes used more than 10%.`,
		Example: `  # See how fast this machine is:
  workload-resizer bench-node

  # Append the result to a feed in the samples format:
  workload-resizer bench-node --node-type n4 --output samples.json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(o.complete(), o.validate()); err != nil {
				return err
			}
			if err := o.try(); err != nil {
				return err
			}
			return benchNode(cmd.Context(), o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.addTo(cmd.Flags())
	return cmd
}

func benchNode(ctx context.Context, o *benchNodeOptions, stdout, stderr io.Writer) error {
	node, err := agent.NewNode("/")
	if err != nil {
		return err
	}
	config := agent.Config{
		Node: o.nodeName, NodeType: o.nodeType, Machine: node.Machine, Measure: node, Summary: stderr, MemoryFile: o.stateFile,
	}
	closeClient, err := deliverTo(&config, o, stdout)
	if err != nil {
		return err
	}
	defer closeClient()
	if o.labelNode {
		if err := labelNode(ctx, o, node.CPUModel); err != nil {
			return err
		}
	}
	a := agent.New(config)
	if o.every > 0 {
		return a.Stay(ctx, o.every)
	}
	return a.Once(ctx)
}

// deliverTo sets where the agent sends its samples and claims measurements. It returns a
// function that closes the connection.
func deliverTo(config *agent.Config, o *benchNodeOptions, stdout io.Writer) (end func(), err error) {
	if o.server == "" {
		config.Deliver = func(_ context.Context, samples []sample.Sample) error { return write(o.output, stdout, samples) }
		return func() {}, nil
	}
	dial, err := o.dialer("bench-node")
	if err != nil {
		return nil, err
	}
	c, err := dial()
	if err != nil {
		return nil, err
	}
	sender := &deliver.Sender{Client: c.Benchmarks(), Node: o.nodeName}
	config.Deliver = sender.Send
	config.Claim = func(ctx context.Context) (time.Time, error) {
		m := &config.Machine
		return sender.Claim(ctx, deliver.Claim{CPUModel: m.CPUModel, VCPUs: m.VCPUs(), ThreadsPerCore: m.ThreadsPerCore, Version: kernel.Version()})
	}
	return func() { _ = c.Close() }, nil
}

func labelNode(ctx context.Context, o *benchNodeOptions, cpuModel string) error {
	if cpuModel == "" {
		return errors.New("--label-node: /proc/cpuinfo does not contain the CPU model of this node")
	}
	config, err := restConfig(o.kubeconfig)
	if err != nil {
		return err
	}
	config.UserAgent = "workload-resizer-bench-node/" + build.Version
	cluster, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("create a client for the API server: %w", err)
	}
	return nodelabel.Write(ctx, cluster.CoreV1().Nodes(), o.nodeName, cpuModel)
}

// write appends samples to a file or to standard output, or discards them.
func write(output string, stdout io.Writer, samples []sample.Sample) (err error) {
	to := stdout
	switch output {
	case "":
		return nil
	case "-":
	default:
		file, err := os.OpenFile(output, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return fmt.Errorf("--output: %w", err)
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		to = file
	}
	encoder := json.NewEncoder(to)
	for _, s := range samples {
		if err := encoder.Encode(s); err != nil {
			return fmt.Errorf("--output: %w", err)
		}
	}
	return nil
}
