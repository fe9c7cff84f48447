package metricsapi

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metrics "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	client "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// Source is metrics.k8s.io as a source of usage.
type Source struct {
	// Client should use protobuf, which takes half the size of JSON.
	Client client.PodMetricsesGetter
	// Namespaces returns the namespaces to read. Each is a request of its own, so that a large
	// cluster is never in memory as a whole.
	Namespaces func() []string
}

// Name implements usage.Source.
func (s *Source) Name() string { return "metrics.k8s.io" }

// Read implements usage.Source. It reads all namespaces, even if some of them fail. What they measured
// cannot be read later.
func (s *Source) Read(ctx context.Context, since, until time.Time, observe func(usage.Sample)) error {
	var failed error
	for _, namespace := range s.Namespaces() {
		// The API server answers from its cache.
		list, err := s.Client.PodMetricses(namespace).List(ctx, metav1.ListOptions{ResourceVersion: "0"})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed = fmt.Errorf("list the metrics of namespace %s: %w: %w", namespace, err, usage.ErrIncomplete)
			continue
		}
		for i := range list.Items {
			if at := list.Items[i].Timestamp.Time; at.After(since) && !at.After(until) {
				deliver(&list.Items[i], observe)
			}
		}
	}
	return failed
}

// deliver passes the samples of a pod.
func deliver(pod *metrics.PodMetrics, observe func(usage.Sample)) {
	for _, c := range pod.Containers {
		sample := usage.Sample{Namespace: pod.Namespace, Name: pod.Name, Container: c.Name}
		sample.At, sample.Length = pod.Timestamp.Time, pod.Window.Duration
		if cpu, measured := c.Usage[corev1.ResourceCPU]; measured {
			sample.Resource, sample.Usage = history.CPU, cpu.MilliValue()
			observe(sample)
		}
		if memory, measured := c.Usage[corev1.ResourceMemory]; measured {
			sample.Resource, sample.Usage, sample.Length = history.Memory, memory.Value(), 0
			observe(sample)
		}
	}
}
