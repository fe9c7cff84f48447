package agent

import (
	"crypto/sha256"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/agent/kernel"
	"github.com/workload-resizer/workload-resizer/agent/machine"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// samplesOf returns the samples of a run.
func samplesOf(node, nodeType string, m *machine.Machine, began time.Time, results Results) []sample.Sample {
	all := make([]sample.Sample, len(results.Scores))
	for i, score := range results.Scores {
		all[i] = sample.Sample{
			ID: id(node, began, score.Kernel.Name), NodeType: nodeType, CPUModel: m.CPUModel,
			Benchmark: score.Kernel.Name, Version: kernel.Version(), Unit: score.Kernel.Unit,
			Score: score.All, SingleThread: score.Single, VCPUs: m.VCPUs(), ThreadsPerCore: m.ThreadsPerCore, Threads: m.VCPUs(),
			Runs: score.Runs, Machine: node, Source: sample.SourceAgent, Time: began.UTC(),
			OtherLoad: math.Round(results.OtherLoad*1000) / 1000,
		}
		if score.All == 0 {
			all[i].Score, all[i].SingleThread, all[i].Threads, all[i].Spot = score.Single, 0, 1, true
		}
	}
	return all
}

// id returns the ID of a sample, unique per node, run and benchmark. It contains a hash of the
// node's name, since names of nodes may be longer than IDs.
func id(node string, began time.Time, benchmark string) string {
	sum := sha256.Sum256([]byte(node))
	return fmt.Sprintf("%s/%x/%s", strings.TrimPrefix(benchmark, sample.AgentPrefix), sum[:8], began.UTC().Format(time.RFC3339Nano))
}
