package workload

import (
	"fmt"
	"testing"

	"github.com/workload-resizer/workload-resizer/test/docpage"
)

func TestReference(t *testing.T) {
	many := fmt.Sprintf("in at least %d of its workloads that were resized lately, and in more than %d%% of them, a resize was reverted", workloadsToOpen, 100/oneIn)
	docpage.Generated(t, "docs/reference/guard.md", map[string]string{
		"breakers": docpage.Table([]string{"The breaker of", "Opens if", "Stops the sizing of"},
			[]string{"a workload", fmt.Sprintf("%d of its last %d resizes were reverted", revertsToOpen, lastOutcomes), "all pods of the workload"},
			[]string{"a namespace", many, "all pods in the namespace"},
			[]string{"the cluster", "the same applies to all workloads", "all pods"},
		),
	})
}
