package loop

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// A resize that failed gives its place back, unless only its record did.
func TestPlaces(t *testing.T) {
	claims := []workload.Claim{{Group: workload.Group{Namespace: "shop"}, Places: 1}}
	for _, tc := range []struct {
		err  error
		free bool
	}{{errRefused, true}, {&actuate.StoppedError{}, true}, {&actuate.UnannotatedError{Err: errRefused}, false}} {
		r, _ := idle(t, "https://127.0.0.1:1")
		plan, shown := planOfSized(t), r.places.Mark()
		if !r.places.Take(plan.Pod, claims, &shown) {
			t.Fatal("the pod must not begin")
		}
		r.failed(t.Context(), plan.Pod, plan, tc.err)
		shown = r.places.Mark()
		if got := r.places.Take(types.NamespacedName{Namespace: "shop", Name: "other"}, claims, &shown); got != tc.free {
			t.Errorf("%v: the place is free: %t, want %t", tc.err, got, tc.free)
		}
	}
}
