package metricsapi

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	client "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"

	"github.com/workload-resizer/workload-resizer/usage"
)

// Nodes is metrics.k8s.io as a source of the usage of nodes.
type Nodes struct {
	Client client.MetricsV1beta1Interface
}

// Name implements usage.NodeSource.
func (*Nodes) Name() string { return "metrics.k8s.io" }

// ReadNodes implements usage.NodeSource.
func (n *Nodes) ReadNodes(ctx context.Context) ([]usage.NodeUsage, error) {
	list, err := n.Client.NodeMetricses().List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return nil, fmt.Errorf("list the metrics of nodes: %w", err)
	}
	all := make([]usage.NodeUsage, len(list.Items))
	for i := range list.Items {
		m := &list.Items[i]
		all[i] = usage.NodeUsage{Node: m.Name, At: m.Timestamp.Time}
		if cpu, measured := m.Usage[corev1.ResourceCPU]; measured {
			all[i].CPU = usage.ValueOf(float64(cpu.MilliValue()))
		}
		if memory, measured := m.Usage[corev1.ResourceMemory]; measured {
			all[i].Memory = usage.ValueOf(float64(memory.Value()))
		}
	}
	return all, nil
}
