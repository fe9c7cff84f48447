package workload

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

func TestPlaces(t *testing.T) {
	pod := func(name string) types.NamespacedName { return types.NamespacedName{Namespace: "shop", Name: name} }
	of := func(namespace, controller string, places int) []Claim {
		return []Claim{{Group: Group{namespace, Workload{byUID, controller}}, Places: places}}
	}
	take := func(p *Places, pod types.NamespacedName, claims []Claim) bool {
		now := p.Mark()
		return p.Take(pod, claims, &now)
	}
	t.Run("no more pods begin than there are places", func(t *testing.T) {
		p := NewPlaces()
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
		p := NewPlaces()
		in := func(budget string, places int) Claim {
			return Claim{Group: Group{"shop", Workload{"PodDisruptionBudget", budget}}, Places: places}
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
		p := NewPlaces()
		web, before := of("shop", "web", 1), p.Mark()
		if !p.Take(pod("web-0"), web, &before) {
			t.Fatal("the first pod must not begin")
		}
		p.End(pod("web-0"))
		if p.Take(pod("web-1"), web, &before) {
			t.Error("a second pod takes the place that the plan saw before")
		}
		if !take(p, pod("web-1"), web) {
			t.Error("a pod that was planned again must not begin")
		}
	})
	t.Run("nothing stays once all pods have ended", func(t *testing.T) {
		p := NewPlaces()
		for _, name := range []string{"web-0", "web-1", "never-begun"} {
			if name != "never-begun" && !take(p, pod(name), of("shop", "web", 2)) {
				t.Fatalf("%s must not begin", name)
			}
		}
		for _, name := range []string{"web-0", "web-1", "never-begun"} {
			p.End(pod(name))
		}
		if len(p.underWay) != 0 || len(p.counts) != 0 {
			t.Errorf("left: %v, %v", p.underWay, p.counts)
		}
	})
}
