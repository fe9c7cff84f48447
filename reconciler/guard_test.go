package reconciler

import (
	"context"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

func TestAPodThatCannotBeWorkedOnKeepsNoOtherWaiting(t *testing.T) {
	r, _ := idle(t, "https://127.0.0.1:1")
	bad := types.NamespacedName{Namespace: "shop", Name: "bad"}
	r.guard(t.Context(), bad, func(context.Context, types.NamespacedName) { panic("odd") })
	if r.queue.Len() != 0 {
		t.Error("it is worked on again at once")
	}
	if got := testutil.ToFloat64(r.metrics.resizes.WithLabelValues(string(resultFailed), string(contract.ResizeFailed))); got != 1 {
		t.Errorf("%v failures are counted", got)
	}
}
