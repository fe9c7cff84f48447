package metriclabels

import (
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/owners"
)

// Values returns all values of each label of the server's own metrics, if the table of ratios
// has these node types. Their number does not grow with the cluster.
func Values(nodeTypes ...string) map[string][]string {
	reasons := []string{""}
	for _, info := range contract.Reasons() {
		reasons = append(reasons, string(info.Reason))
	}
	var harms []string
	for _, harm := range contract.Harms {
		harms = append(harms, string(harm))
	}
	return map[string][]string{
		"harm":   harms,
		"reason": reasons, "result": {"resized", "refused", "failed", "counted", "rejected", "evicted", "budget"}, "decision": {"resize", "aligned", "skip"},
		"amount":    {"authored", "requested", "measured", "used"},
		"direction": {"freed", "added"}, "resource": {"cpu", "memory"}, "source": {"override", "configmap", "benchmark", "production", "push", "metrics.k8s.io", "prometheus"},
		"recommendation": {"known", "unknown"},
		"step":           {"originals", "resize", "applied", "record", "infeasible", "revertRefused", "reverted", "revert", "restore", "clean", "preview"},
		"code":           {"0", "200", "403", "404", "409", "422", "429", "500", "503"},
		"node_type":      nodeTypes,
		"kind":           owners.DefaultResources,
		"scope":          {"cluster", "namespace", "workload"},
	}
}
