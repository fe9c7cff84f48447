package monitoring

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func (s *scene) scraped(t *testing.T) {
	localcluster.Eventually(t, "the targets to be up", func() error {
		targets, err := s.prometheus.Targets(t.Context())
		if err != nil {
			return err
		}
		if len(targets.Active) != 2 || slices.ContainsFunc(targets.Active, func(a promv1.ActiveTarget) bool { return a.Health != promv1.HealthGood }) {
			return fmt.Errorf("got the targets %+v", targets.Active)
		}
		return nil
	})
}

// figures compares metrics with GetStatus and the pods, once all pods are resized and the nodes
// have actuated the resizes.
func (s *scene) figures(t *testing.T) {
	localcluster.Eventually(t, "Prometheus to have the server's values", func() error {
		status, err := s.api.Status(t.Context())
		if err != nil {
			return err
		}
		aligned := int64(0)
		for _, count := range status.GetPods() {
			decision := strings.ToLower(strings.TrimPrefix(count.GetDecision().String(), "DECISION_"))
			if count.GetDecision() == workloadresizerv1.Decision_DECISION_RESIZE {
				return fmt.Errorf("%d pods still need a resize", count.GetPods())
			}
			if count.GetDecision() == workloadresizerv1.Decision_DECISION_ALIGNED {
				aligned += count.GetPods()
			}
			err := s.shows(t, float64(count.GetPods()), `workload_resizer_pods{decision=%q,reason=%q}`, decision, count.GetCode())
			if err != nil {
				return err
			}
		}
		if aligned == 0 {
			return fmt.Errorf("no pod is aligned: %v", status.GetPods())
		}
		freed, err := s.coresFreed(t)
		if err != nil {
			return err
		}
		if freed == 0 {
			return fmt.Errorf("no pod freed cores")
		}
		return s.shows(t, freed, `workload_resizer_requested_change_cores{direction="freed"}`)
	})
}

// coresFreed returns how far the pods' CPU requests are below their recorded originals in all.
func (s *scene) coresFreed(t *testing.T) (cores float64, err error) {
	pods, err := s.client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		for _, c := range pod.Spec.Containers {
			text, ok := contract.CPURequest.In(pod.Annotations, c.Name)
			if !ok {
				continue
			}
			original, err := resource.ParseQuantity(text)
			if err != nil {
				return 0, err
			}
			cores += max(0, original.AsApproximateFloat64()-c.Resources.Requests.Cpu().AsApproximateFloat64())
		}
	}
	return cores, nil
}

// shows returns an error unless a query to Prometheus returns exactly this value.
func (s *scene) shows(t *testing.T, want float64, format string, args ...any) error {
	query := fmt.Sprintf(format, args...)
	value, _, _, err := s.prometheus.Query(t.Context(), query, time.Now())
	if err != nil {
		return err
	}
	vector, ok := value.(model.Vector)
	if !ok || len(vector) != 1 || math.Abs(float64(vector[0].Value)-want) > 1e-6 {
		return fmt.Errorf("%s is %v, want %v", query, value, want)
	}
	return nil
}
