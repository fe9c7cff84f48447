package loop

import (
	"errors"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func TestQueue(t *testing.T) {
	t.Run("knows when a pod was queued", knowsWhenAPodWasQueued)
	t.Run("measures the time from the first need of a size", measuresTheTimeFromTheFirstNeedOfASize)
	t.Run("waits by the clock of the loop", waitsByTheClockOfTheLoop)
}

func waitsByTheClockOfTheLoop(t *testing.T) {
	r, clock := idle(t, "https://127.0.0.1:1")
	r.queue.AddAfter(types.NamespacedName{Namespace: "shop", Name: "web"}, 6*time.Hour)
	if n := r.queue.Len(); n != 0 {
		t.Fatalf("%d pods are due immediately", n)
	}
	clock.Step(6 * time.Hour)
	localcluster.Eventually(t, "the pod", func() error {
		if r.queue.Len() != 1 {
			return errors.New("it is not due")
		}
		return nil
	})
}

func knowsWhenAPodWasQueued(t *testing.T) {
	r, clock := idle(t, "https://127.0.0.1:1")
	pod := types.NamespacedName{Namespace: "shop", Name: "web"}
	since := clock.Now()
	r.queue.Add(pod)
	clock.Step(3 * time.Second)
	r.queue.Add(pod) // Queuing it again does not restart the wait.
	if got, _ := r.queue.Get(); got != pod || r.queue.Len() != 0 {
		t.Fatalf("got %v, and %d remain", got, r.queue.Len())
	}
	// The pod is queued again while a worker processes it.
	r.queue.Add(pod)
	if got := r.line.turn(pod); !got.Equal(since) {
		t.Errorf("the pod waited since %v, want %v", got, since)
	}
	clock.Step(time.Second)
	again := clock.Now()
	r.queue.Done(pod)
	if got, _ := r.queue.Get(); got != pod {
		t.Fatalf("got %v", got)
	}
	if got := r.line.turn(pod); !got.Equal(again) {
		t.Errorf("the second time, the pod waited since %v, want %v", got, again)
	}
	var seen dto.Metric
	if err := r.metrics.waiting.Write(&seen); err != nil {
		t.Fatal(err)
	}
	if h := seen.GetHistogram(); h.GetSampleCount() != 2 || h.GetSampleSum() != 3 {
		t.Errorf("metrics have %d waits of %v s", h.GetSampleCount(), h.GetSampleSum())
	}
}

func measuresTheTimeFromTheFirstNeedOfASize(t *testing.T) {
	r, clock := idle(t, "https://127.0.0.1:1")
	plan := planFor(t, podtest.Amounts{"1", "", "", ""})
	settled := func() (uint64, float64) {
		var seen dto.Metric
		if err := r.metrics.settling.Write(&seen); err != nil {
			t.Fatal(err)
		}
		return seen.GetHistogram().GetSampleCount(), seen.GetHistogram().GetSampleSum()
	}
	queued := clock.Now()
	r.ledger.planned(plan, cluster.Rules{}, difference{}, queued)
	clock.Step(2 * time.Second)
	r.ledger.planned(plan, cluster.Rules{}, difference{}, clock.Now()) // Planned again.
	clock.Step(time.Second)
	r.ledger.succeeded(plan, "2", clock.Now())
	if n, sum := settled(); n != 1 || sum != 3 {
		t.Errorf("%d pods, %v s", n, sum)
	}
	again := *plan
	again.Past = 0 // It was sized before.
	r.ledger.planned(&again, cluster.Rules{}, difference{}, clock.Now())
	r.ledger.succeeded(&again, "3", clock.Now())
	if n, _ := settled(); n != 1 {
		t.Error("a pod that is resized again counts")
	}
}
