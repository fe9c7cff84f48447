package podtest

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// GiB is one gibibyte in bytes.
const GiB = 1 << 30

// Table returns the published example: n4 is 1.25 times as fast as n2d. It adds big, which
// also has more memory performance, slow, which needs 1.25 times the cpu, and typo, whose ratio
// is implausible.
func Table(t testing.TB) *ratios.Table {
	t.Helper()
	table, err := ratios.Merge([]*ratios.Layer{{
		Baseline: "n2d",
		Ratios: map[string]ratios.Ratio{
			"n2d":  {CPUPerf: 1, MemoryPerf: 1},
			"n4":   {CPUPerf: 1.25, MemoryPerf: 1},
			"big":  {CPUPerf: 2, MemoryPerf: 2},
			"slow": {CPUPerf: 0.8, MemoryPerf: 1},
			"typo": {CPUPerf: 125, MemoryPerf: 1},
		},
		Settings: keys.Some(policy.Settings{Bounds: policy.Bounds{CPU: sizing.Range{Min: 50, Max: 16000}, Memory: sizing.Range{Min: 64 << 20, Max: 32 * GiB}}}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// Node returns a node of a type, without allocatable resources.
func Node(nodeType string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "node", Labels: map[string]string{nodetype.LabelGCPMachineFamily: nodeType}},
		Status:     corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{KubeletVersion: "v1.36.3"}},
	}
}

// Booted returns a Node with a kubelet version and a boot ID.
func Booted(kubelet, boot string) *corev1.Node {
	n := Node("n4")
	n.Status.NodeInfo = corev1.NodeSystemInfo{KubeletVersion: kubelet, BootID: boot}
	return n
}
