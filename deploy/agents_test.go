package deploy

import (
	"testing"

	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// TestAgents applies the components of the node agents to an API server. They do not depend on each other, so they
// share one.
func TestAgents(t *testing.T) {
	t.Parallel()
	config := localcluster.ForTest(t, "").Config()
	manifest := built(t, "base", "bench-node", "cpu-model-label", "overloaded-taint", "startup-taint", "report-usage")
	if err := localcluster.Apply(t.Context(), config, manifest); err != nil {
		t.Fatal(err)
	}
	admin := kubernetes.NewForConfigOrDie(config)
	t.Run("that measures its node", func(t *testing.T) { testNodeAgent(t, config, admin) })
	t.Run("that has a new node to itself at first", func(t *testing.T) { testStartupTaint(t, config, admin, manifest) })
	t.Run("whose nodes may be overloaded", func(t *testing.T) { testOverloadedTaint(t, config, admin) })
	t.Run("that reports usage", func(t *testing.T) { testUsageAgent(t, admin) })
}
