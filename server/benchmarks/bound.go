package benchmarks

import (
	"crypto/sha256"
	"fmt"
	"strings"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// maxBoundRuns is how many runs a sample of a caller that is bound to a node may sum
// up: far more than the node agent has time for, and not so many that one sample
// is all there is.
const maxBoundRuns = 10_000

// boundFault tells why a caller that is bound to a node may not send a sample, nil if
// it may. It speaks for its node, and only of what the node agent measures:
// published results are for people to bring.
func boundFault(m *workloadresizerv1.BenchmarkSample, node string) *sampleFault {
	switch {
	case m.GetNode() == "" || m.GetNode() != node:
		return &sampleFault{workloadresizerv1.SampleErrorCode_SAMPLE_ERROR_CODE_NODE_NOT_YOURS, "node",
			fmt.Sprintf("must be %q, which your token is bound to, not %q", node, m.GetNode())}
	case !strings.HasPrefix(m.GetBenchmark(), sample.AgentPrefix):
		return invalidSample("benchmark", "must begin with %q, not be %q: your token is bound to a node, which may only send what its node agent measures", sample.AgentPrefix, m.GetBenchmark())
	case m.GetRuns() > maxBoundRuns:
		return invalidSample("runs", "must be at most %d, not %d: your token is bound to a node", maxBoundRuns, m.GetRuns())
	}
	return nil
}

// idOfNode is what the sample of a caller that is bound to a node is known by. Ids
// are per node type: without the node, another one could take them first. What would
// be too long is hashed, and cannot be another node's: no name of a node has a colon.
func idOfNode(node, id string) string {
	scoped := node + "/" + id
	if len(scoped) <= sample.MaxIDBytes {
		return scoped
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(scoped)))
}
