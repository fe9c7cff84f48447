package loop

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

func TestCanaries(t *testing.T) {
	pod := func(name string) types.NamespacedName { return types.NamespacedName{Namespace: "shop", Name: name} }
	web := controller{"shop", "web"}
	t.Run("no more pods begin than there are places", func(t *testing.T) {
		c := newCanaries()
		web, db, forged := c.mark(web), c.mark(controller{"shop", "db"}), c.mark(controller{"evil", "web"})
		if !c.begin(pod("web-0"), 2, web) || !c.begin(pod("web-1"), 2, web) {
			t.Error("a pod with a place must not begin")
		}
		if c.begin(pod("web-2"), 2, web) {
			t.Error("a third pod takes one of two places")
		}
		if !c.begin(pod("db-0"), 1, db) {
			t.Error("a pod waits for another workload")
		}
		if !c.begin(types.NamespacedName{Namespace: "evil", Name: "web-0"}, 1, forged) {
			t.Error("a pod waits for pods in another namespace")
		}
	})
	t.Run("a plan from before the cache showed a resize is out of date", func(t *testing.T) {
		c := newCanaries()
		before := c.mark(web)
		if !c.begin(pod("web-0"), 1, before) {
			t.Fatal("the first pod must not begin")
		}
		c.end(pod("web-0"))
		if c.begin(pod("web-1"), 1, before) {
			t.Error("a second pod takes the place that the plan saw before")
		}
		if !c.begin(pod("web-1"), 1, c.mark(web)) {
			t.Error("a pod that was planned again must not begin")
		}
	})
	t.Run("nothing stays once all pods have ended", func(t *testing.T) {
		c := newCanaries()
		for _, name := range []string{"web-0", "web-1", "never-begun"} {
			if name != "never-begun" && !c.begin(pod(name), 2, c.mark(web)) {
				t.Fatalf("%s must not begin", name)
			}
		}
		for _, name := range []string{"web-0", "web-1", "never-begun"} {
			c.end(pod(name))
		}
		if len(c.underWay) != 0 || len(c.counts) != 0 {
			t.Errorf("left: %v, %v", c.underWay, c.counts)
		}
	})
}
