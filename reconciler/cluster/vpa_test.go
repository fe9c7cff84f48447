package cluster

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/workload-resizer/workload-resizer/reconciler/vpa"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// autoscaler returns a VerticalPodAutoscaler for the Deployment web.
func autoscaler(name, mode string, age time.Duration, boosts bool) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"targetRef":    map[string]any{"kind": "Deployment", "name": "web"},
		"updatePolicy": map[string]any{"updateMode": mode},
	}}}
	if boosts {
		o.Object["spec"].(map[string]any)["startupBoost"] = map[string]any{"cpu": map[string]any{"type": "Factor"}}
	}
	o.SetNamespace("shop")
	o.SetName(name)
	o.SetCreationTimestamp(metav1.NewTime(time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC).Add(-age)))
	return o
}

func TestVPAs(t *testing.T) {
	web := []workload.Workload{{Kind: "ReplicaSet", Name: "web-1"}, {Kind: "Deployment", Name: "web"}}
	for _, tc := range []struct {
		name string
		all  []*unstructured.Unstructured
		want string
	}{
		{"none", nil, ""},
		{"one that only recommends", []*unstructured.Unstructured{autoscaler("a", "Off", 0, false)}, ""},
		{"one that boosts", []*unstructured.Unstructured{autoscaler("a", "Off", 0, true)}, "a"},
		{"the oldest of several", []*unstructured.Unstructured{autoscaler("a", "Auto", 0, false), autoscaler("b", "Auto", time.Hour, false), autoscaler("c", "Auto", time.Minute, false)}, "b"},
		{"the first by name of the same age", []*unstructured.Unstructured{autoscaler("b", "Auto", 0, false), autoscaler("a", "Auto", 0, false)}, "a"},
		{"one that resizes before an older one that boosts", []*unstructured.Unstructured{autoscaler("a", "Off", time.Hour, true), autoscaler("b", "Auto", 0, false)}, "b"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := known(t)
			for _, o := range tc.all {
				if err := c.vpas.informer.GetIndexer().Add(vpa.From(o)); err != nil {
					t.Fatal(err)
				}
			}
			for range 10 {
				got := ""
				if of := c.vpas.of("shop", web); of != nil {
					got = of.Name
				}
				if got != tc.want {
					t.Fatalf("%q, want %q", got, tc.want)
				}
			}
		})
	}
}
