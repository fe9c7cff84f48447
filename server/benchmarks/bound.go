package benchmarks

import (
	"crypto/sha256"
	"fmt"
	"strings"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// maxBoundRuns is the maximum number of runs that a sample may summarize if its caller is
// bound to a node. It is far more than the node agent has time for, and too few for one
// sample to outweigh all others.
const maxBoundRuns = 10_000

// boundFault returns why a caller that is bound to a node may not send a sample, nil if it
// may. Such a caller can send only what the node agent measures on its node: published
// results come from users.
func boundFault(m *workloadresizerv1.BenchmarkSample, node string) *sampleFault {
	switch {
	case m.GetNode() == "" || m.GetNode() != node:
		return &sampleFault{workloadresizerv1.SampleErrorCode_SAMPLE_ERROR_CODE_NODE_NOT_YOURS, "node",
			fmt.Sprintf("must be %q, the node that your token is bound to, not %q", node, m.GetNode())}
	case !strings.HasPrefix(m.GetBenchmark(), sample.AgentPrefix):
		return invalidSample("benchmark", "must begin with %q, but is %q: your token is bound to a node, which can send only what its node agent measures", sample.AgentPrefix, m.GetBenchmark())
	case m.GetRuns() > maxBoundRuns:
		return invalidSample("runs", "must be at most %d, not %d: your token is bound to a node", maxBoundRuns, m.GetRuns())
	}
	return nil
}

// idOfNode returns the id under which the sample of a caller that is bound to a node is
// stored. Ids are per node type: without the node, another node could take the id first. An
// id that would be too long is hashed. The hash cannot collide with another node's id,
// because no node name contains a colon.
func idOfNode(node, id string) string {
	scoped := node + "/" + id
	if len(scoped) <= sample.MaxIDBytes {
		return scoped
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(scoped)))
}
