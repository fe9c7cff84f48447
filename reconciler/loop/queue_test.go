package loop

import (
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

func TestQueue(t *testing.T) {
	t.Run("the queue knows since when a pod waits", theQueueKnowsSinceWhenAPodWaits)
	t.Run("a pod is settled from when it was first seen to need a size", aPodIsSettledFromWhenItWasFirstSeenToNeedASize)
}

func theQueueKnowsSinceWhenAPodWaits(t *testing.T) {
	r, clock := idle(t, "https://127.0.0.1:1")
	pod := types.NamespacedName{Namespace: "shop", Name: "web"}
	since := clock.Now()
	r.queue.Add(pod)
	clock.Step(3 * time.Second)
	r.queue.Add(pod) // Once more is not anew.
	if got, _ := r.queue.Get(); got != pod || r.queue.Len() != 0 {
		t.Fatalf("it gave %v and has %d", got, r.queue.Len())
	}
	// While a worker is at it, it is queued again.
	r.queue.Add(pod)
	if got := r.line.turn(pod); !got.Equal(since) {
		t.Errorf("it waited since %v, want %v", got, since)
	}
	clock.Step(time.Second)
	again := clock.Now()
	r.queue.Done(pod)
	if got, _ := r.queue.Get(); got != pod {
		t.Fatalf("it gave %v", got)
	}
	if got := r.line.turn(pod); !got.Equal(again) {
		t.Errorf("the second time it waited since %v, want %v", got, again)
	}
	var seen dto.Metric
	if err := r.metrics.waiting.Write(&seen); err != nil {
		t.Fatal(err)
	}
	if h := seen.GetHistogram(); h.GetSampleCount() != 2 || h.GetSampleSum() != 3 {
		t.Errorf("metrics have %d waits of %v s", h.GetSampleCount(), h.GetSampleSum())
	}
}

func aPodIsSettledFromWhenItWasFirstSeenToNeedASize(t *testing.T) {
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
	r.ledger.planned(plan, cluster.Rules{}, difference{}, clock.Now()) // Tried again.
	clock.Step(time.Second)
	r.ledger.succeeded(plan, "2", clock.Now())
	if n, sum := settled(); n != 1 || sum != 3 {
		t.Errorf("%d pods, %v s", n, sum)
	}
	again := *plan
	again.Applied = "n4"
	r.ledger.planned(&again, cluster.Rules{}, difference{}, clock.Now())
	r.ledger.succeeded(&again, "3", clock.Now())
	if n, _ := settled(); n != 1 {
		t.Error("a pod that is sized anew counts")
	}
}
