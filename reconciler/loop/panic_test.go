package loop

import (
	"context"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/types"
)

func TestPanic(t *testing.T) {
	t.Run("a panic delays only its own pod", aPanicDelaysOnlyItsOwnPod)
}

func aPanicDelaysOnlyItsOwnPod(t *testing.T) {
	r, _ := idle(t, "https://127.0.0.1:1")
	bad := types.NamespacedName{Namespace: "shop", Name: "bad"}
	r.survive(t.Context(), bad, func(context.Context, types.NamespacedName) { panic("odd") })
	if r.queue.Len() != 0 {
		t.Error("the pod is processed again immediately")
	}
	const want = `
# HELP workload_resizer_resizes_total Resizes by result: resized (the API server accepted the sizes), refused (rejected for this reason until something changes) or failed (a write of the resize or its record failed and is retried). Every attempt counts, except conflicts.
# TYPE workload_resizer_resizes_total counter
workload_resizer_resizes_total{reason="",result="resized"} 0
workload_resizer_resizes_total{reason="ResizeFailed",result="failed"} 1
`
	if err := testutil.GatherAndCompare(r.Metrics.(prometheus.Gatherer), strings.NewReader(want), "workload_resizer_resizes_total"); err != nil {
		t.Error(err)
	}
}
