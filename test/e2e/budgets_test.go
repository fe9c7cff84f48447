package e2e

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/client"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func TestBudgets(t *testing.T) {
	t.Parallel()
	t.Run("previews do not use the budget of writes", previewsDoNotUseTheBudgetOfWrites)
}

// previewsDoNotUseTheBudgetOfWrites expects a pod to be resized while far more previews
// are waiting for the API server than the rate limit admits.
func previewsDoNotUseTheBudgetOfWrites(t *testing.T) {
	t.Parallel()
	// At one request per second, the requests beyond the burst take 25 s. Requests that
	// would wait longer than 30 s are refused immediately.
	const burst, previews = 16, 41
	p := newPlane(t)
	s := p.servePlain(t, append([]string{"--kube-api-qps=1", fmt.Sprintf("--kube-api-burst=%d", burst), "--max-calls-per-second=0"}, ownedByConfigMaps...)...)
	resize := func(name string) {
		t.Helper()
		if err := p.create(t.Context(), name, "n4"); err != nil {
			t.Fatal(err)
		}
		localcluster.Eventually(t, name+" to be resized", func() error {
			pod, err := p.client.CoreV1().Pods(metav1.NamespaceDefault).Get(t.Context(), name, metav1.GetOptions{})
			if err == nil && pod.Spec.Containers[0].Resources.Requests.Cpu().MilliValue() != 800 {
				err = fmt.Errorf("it requests %s", pod.Spec.Containers[0].Resources.Requests.Cpu())
			}
			return err
		})
	}
	resize("asked-about")
	before := 0.0
	localcluster.Eventually(t, "the server to know of the resize", func() error {
		before++
		plan, err := s.api.PreviewPod(t.Context(), metav1.NamespaceDefault, "asked-about", client.AsRestored())
		if err == nil && plan.GetDecision() != workloadresizerv1.Decision_DECISION_RESIZE {
			err = fmt.Errorf("it plans %v", plan)
		}
		return err
	})

	ctx, cancel := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	t.Cleanup(asking.Wait)
	t.Cleanup(cancel)
	var answered atomic.Int64
	for range previews {
		asking.Go(func() {
			plan, err := s.api.PreviewPod(ctx, metav1.NamespaceDefault, "asked-about", client.AsRestored(), client.ServerSide())
			switch {
			case ctx.Err() != nil:
			case err != nil:
				t.Error(err)
			case plan.GetDecision() != workloadresizerv1.Decision_DECISION_RESIZE:
				t.Errorf("the API server was not asked, or refused: %v", plan)
			default:
				answered.Add(1)
			}
		})
	}
	localcluster.Eventually(t, "previews to use up their budget, and all others to wait", func() error {
		families, err := s.Metrics(t.Context())
		if err != nil {
			return err
		}
		begun, err := families.Sum("grpc_server_started_total", prometheus.Labels{"grpc_method": "PreviewPod"})
		if err == nil && (begun-before != previews || answered.Load() < burst) {
			err = fmt.Errorf("%v of %d have begun, %d are answered", begun-before, previews, answered.Load())
		}
		return err
	})
	resize("resized-meanwhile")
	if n := answered.Load(); n >= previews {
		t.Errorf("the pod was resized only after all %d previews were answered", n)
	} else {
		t.Logf("the pod was resized when %d of %d previews were answered", n, previews)
	}
}
