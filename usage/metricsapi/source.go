package metricsapi

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	metrics "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	"k8s.io/metrics/pkg/client/clientset/versioned/scheme"
	client "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// Source is metrics.k8s.io as a source of usage.
type Source struct {
	// Client should use protobuf: it takes half the size of JSON, and is read pod by pod.
	Client client.MetricsV1beta1Interface
	// Namespaces returns the namespaces to read. Each is a request of its own, so that a large
	// cluster is never in memory as a whole.
	Namespaces func() []string

	// ahead has the samples that were too new for the last read, by pod: the clock of a node may be ahead.
	// A later read delivers them. By then, metrics.k8s.io has only newer ones.
	ahead map[types.NamespacedName][]usage.Sample
}

// Name implements usage.Source.
func (s *Source) Name() string { return "metrics.k8s.io" }

// Read implements usage.Source. It reads all namespaces, even if some of them fail. What they measured
// cannot be read later.
func (s *Source) Read(ctx context.Context, since, until time.Time, observe func(usage.Sample)) error {
	var failed error
	before := s.ahead
	s.ahead = map[types.NamespacedName][]usage.Sample{}
	for name, samples := range before {
		for _, sample := range samples {
			if sample.At.After(until) {
				s.keep(name, until, sample)
			} else if sample.At.After(since) {
				observe(sample)
			}
		}
	}
	for _, namespace := range s.Namespaces() {
		err := s.list(ctx, namespace, func(pod *metrics.PodMetrics) {
			name, at := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, pod.Timestamp.Time
			known := slices.ContainsFunc(before[name], func(sample usage.Sample) bool { return sample.At.Equal(at) })
			switch {
			case known || !at.After(since):
			case at.After(until):
				s.keep(name, until, samples(pod)...)
			default:
				for _, sample := range samples(pod) {
					observe(sample)
				}
			}
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed = fmt.Errorf("list the metrics of namespace %s: %w: %w", namespace, err, usage.ErrIncomplete)
		}
	}
	return failed
}

// list passes the metrics of each pod in a namespace to visit.
func (s *Source) list(ctx context.Context, namespace string, visit func(*metrics.PodMetrics)) error {
	// The API server answers from its cache.
	options := &metav1.ListOptions{ResourceVersion: "0"}
	body, err := s.Client.RESTClient().Get().Namespace(namespace).Resource("pods").VersionedParams(options, scheme.ParameterCodec).Stream(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	return readList(body, visit)
}

// keep keeps samples for later reads.
func (s *Source) keep(of types.NamespacedName, until time.Time, samples ...usage.Sample) {
	if len(samples) > 0 && !samples[0].At.After(until.Add(history.Skew)) {
		s.ahead[of] = append(s.ahead[of], samples...)
	}
}

// samples returns the samples of a pod.
func samples(pod *metrics.PodMetrics) []usage.Sample {
	all := make([]usage.Sample, 0, 2*len(pod.Containers))
	for _, c := range pod.Containers {
		sample := usage.Sample{Namespace: pod.Namespace, Name: pod.Name, Container: c.Name}
		sample.At, sample.Length = pod.Timestamp.Time, pod.Window.Duration
		if cpu, measured := c.Usage[corev1.ResourceCPU]; measured {
			sample.Resource, sample.Usage, sample.Cores = history.CPU, cpu.MilliValue(), cpu.AsApproximateFloat64()
			all = append(all, sample)
		}
		if memory, measured := c.Usage[corev1.ResourceMemory]; measured {
			sample.Resource, sample.Usage, sample.Cores, sample.Length = history.Memory, memory.Value(), 0, 0
			all = append(all, sample)
		}
	}
	return all
}
