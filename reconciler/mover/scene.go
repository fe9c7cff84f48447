package mover

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/evict"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// view is a node with its pods as they were at the last look. Little changes between two looks, and to read a whole cluster
// takes most of the time of a look.
type view struct {
	node *corev1.Node
	pods map[*pod.Pod]struct{}
	is   *evict.Node
}

// shows reports whether a node with pods, in any order, is the same as at the last look. Neither is ever changed, only replaced.
func (v *view) shows(n *corev1.Node, pods []*pod.Pod) bool {
	if v == nil || v.node != n || len(v.pods) != len(pods) {
		return false
	}
	for _, p := range pods {
		if _, has := v.pods[p]; !has {
			return false
		}
	}
	return true
}

func viewOf(n *corev1.Node, pods []*pod.Pod, is *evict.Node) *view {
	v := &view{n, make(map[*pod.Pod]struct{}, len(pods)), is}
	for _, p := range pods {
		v.pods[p] = struct{}{}
	}
	return v
}

// sceneNow returns the cluster.
func (g *glance) sceneNow() *evict.Scene {
	if g.scene != nil {
		return g.scene
	}
	nodes := g.Cluster.Nodes()
	before := g.views
	g.scene, g.views = &evict.Scene{}, make(map[string]*view, len(nodes))
	for _, n := range nodes {
		pods, v := g.Cluster.On(n.Name), before[n.Name]
		if v.shows(n, pods) {
			g.scene.Nodes = append(g.scene.Nodes, v.is)
		} else {
			v = viewOf(n, pods, g.scene.Add(n, pods))
		}
		g.views[n.Name] = v
	}
	return g.scene
}
