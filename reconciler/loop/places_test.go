package loop

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

func TestPlaces(t *testing.T) {
	pod := func(name string) types.NamespacedName { return types.NamespacedName{Namespace: "shop", Name: name} }
	of := func(namespace, controller string, places int) []plan.Claim {
		return []plan.Claim{{Group: plan.Group{Kind: plan.OfOneWorkload, Namespace: namespace, Name: controller}, Places: places}}
	}
	take := func(p *places, pod types.NamespacedName, claims []plan.Claim) bool {
		now := p.mark()
		return p.take(pod, claims, &now)
	}
	t.Run("no more pods begin than there are places", func(t *testing.T) {
		p := newPlaces()
		if !take(p, pod("web-0"), of("shop", "web", 2)) || !take(p, pod("web-1"), of("shop", "web", 2)) {
			t.Error("a pod with a place must not begin")
		}
		if take(p, pod("web-2"), of("shop", "web", 2)) {
			t.Error("a third pod takes one of two places")
		}
		if !take(p, pod("db-0"), of("shop", "db", 1)) {
			t.Error("a pod waits for another workload")
		}
		if !take(p, types.NamespacedName{Namespace: "evil", Name: "web-0"}, of("evil", "web", 1)) {
			t.Error("a pod waits for pods in another namespace")
		}
	})
	t.Run("a pod needs a place in all of its groups", func(t *testing.T) {
		p := newPlaces()
		in := func(budget string, places int) plan.Claim {
			return plan.Claim{Group: plan.Group{Kind: plan.Budgeted, Namespace: "shop", Name: budget}, Places: places}
		}
		if !take(p, pod("web-0"), append(of("shop", "web", 3), in("a", 1))) {
			t.Error("a pod with two places must not begin")
		}
		if take(p, pod("web-1"), append(of("shop", "web", 3), in("a", 1))) {
			t.Error("a second pod takes the place of the budget")
		}
		if !take(p, pod("web-1"), append(of("shop", "web", 2), in("b", 1))) {
			t.Error("a pod that could not begin keeps the place of others")
		}
	})
	t.Run("a plan from before the cache showed a resize is out of date", func(t *testing.T) {
		p := newPlaces()
		web, before := of("shop", "web", 1), p.mark()
		if !p.take(pod("web-0"), web, &before) {
			t.Fatal("the first pod must not begin")
		}
		p.end(pod("web-0"))
		if p.take(pod("web-1"), web, &before) {
			t.Error("a second pod takes the place that the plan saw before")
		}
		if !take(p, pod("web-1"), web) {
			t.Error("a pod that was planned again must not begin")
		}
	})
	t.Run("a resize that failed gives its place back, unless only its record did", func(t *testing.T) {
		for _, tc := range []struct {
			err  error
			left int
		}{{errRefused, 0}, {&actuate.StoppedError{}, 0}, {&actuate.UnrecordedError{Err: errRefused}, 1}} {
			r, _ := idle(t, "https://127.0.0.1:1")
			plan := planOfSized(t)
			if !take(r.places, plan.Pod, of("shop", "web", 1)) {
				t.Fatal("the pod must not begin")
			}
			if r.failed(t.Context(), plan.Pod, plan, tc.err); len(r.places.counts) != tc.left {
				t.Errorf("%v: %d groups are left, want %d", tc.err, len(r.places.counts), tc.left)
			}
		}
	})
	t.Run("nothing stays once all pods have ended", func(t *testing.T) {
		p := newPlaces()
		for _, name := range []string{"web-0", "web-1", "never-begun"} {
			if name != "never-begun" && !take(p, pod(name), of("shop", "web", 2)) {
				t.Fatalf("%s must not begin", name)
			}
		}
		for _, name := range []string{"web-0", "web-1", "never-begun"} {
			p.end(pod(name))
		}
		if len(p.underWay) != 0 || len(p.counts) != 0 {
			t.Errorf("left: %v, %v", p.underWay, p.counts)
		}
	})
}
