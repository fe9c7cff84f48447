package mover

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/evict"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// TestScene checks that what is kept of the last look is used only for nodes on which nothing has changed.
func TestScene(t *testing.T) {
	w := calm(t)
	look := func() map[string]*evict.Node {
		nodes := map[string]*evict.Node{}
		for _, n := range (&glance{Mover: w.mover}).sceneNow().Nodes {
			nodes[n.Name] = n
		}
		return nodes
	}
	before := look()
	for _, tc := range []struct {
		name   string
		change func()
		n0, n1 bool
	}{
		{"nothing changes", func() {}, false, false},
		{"a pod comes", func() { w.put(podtest.Pod(podtest.Guaranteed, clustertest.Named("shop", "new", "n1"))) }, false, true},
		{"a pod changes", func() {
			p := w.objects["web-1"].DeepCopy()
			p.Labels = map[string]string{"app": "other"}
			w.put(p)
		}, true, false},
		{"a pod goes and another one comes", func() {
			w.forget(pod.From(w.objects["new"]))
			w.put(podtest.Pod(podtest.Guaranteed, clustertest.Named("shop", "newer", "n1")))
		}, false, true},
		{"nodes change", func() { w.resize() }, true, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.change()
			after := look()
			for name, changed := range map[string]bool{"n0": tc.n0, "n1": tc.n1} {
				if got := after[name] != before[name]; got != changed {
					t.Errorf("%s is read again: %t, want %t", name, got, changed)
				}
				s := &evict.Scene{}
				fresh := s.Add(w.cluster.NodeNamed(name), w.cluster.On(name))
				if len(fresh.Pods) != len(after[name].Pods) || !reflect.DeepEqual(fresh.Requested[corev1.ResourceCPU], after[name].Requested[corev1.ResourceCPU]) {
					t.Errorf("%s: %+v, want %+v", name, after[name], fresh)
				}
			}
			before = after
		})
	}
}
