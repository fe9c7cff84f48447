package node

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Room is what limits a pod on its node. A missing field limits nothing.
type Room struct {
	// Node is the pod's node.
	Node *corev1.Node
	// Neighbors is the sum of Requests over the node's other pods, except pods that have succeeded or failed.
	Neighbors Resources
	// Kept returns the room that is kept for the node's other pods while their resizes are observed, and until when all
	// of it is. It is a function because only increases need it.
	Kept func() (room Resources, until time.Time)
}

// Lack is a resource of which a node has too little for a pod.
type Lack struct {
	Measure *sizing.Measure
	// Wanted is what the pod would request. The node has Allocatable, of which its other pods request Neighbors, and Kept
	// is kept for them.
	Wanted, Neighbors, Kept, Allocatable int64
}

// Lacks returns the resources of which the node has too little for a pod that would request so much, among those that
// are asked for. A resource that is not in the node's allocatable resources cannot be checked.
func (r *Room) Lacks(wanted Resources, asked [len(sizing.Measures)]bool) (lacks []Lack) {
	var kept Resources
	if r.Kept != nil {
		kept, _ = r.Kept()
	}
	has := Allocatable(r.Node)
	for _, m := range sizing.Measures {
		l := Lack{m, wanted.Of(m), r.Neighbors.Of(m), kept.Of(m), has.Of(m)}
		if _, known := r.Node.Status.Allocatable[corev1.ResourceName(m.Name)]; known && asked[m.Index] && l.Wanted > l.Allocatable-l.Neighbors-l.Kept {
			lacks = append(lacks, l)
		}
	}
	return lacks
}

// pressures are the conditions under which nodes lack something.
var pressures = [...]corev1.NodeConditionType{corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure}

// under reports which of the pressures a node has.
func under(n *corev1.Node) (has [len(pressures)]bool) {
	for i := range n.Status.Conditions {
		if at := slices.Index(pressures[:], n.Status.Conditions[i].Type); at >= 0 {
			has[at] = n.Status.Conditions[i].Status == corev1.ConditionTrue
		}
	}
	return has
}

// Pressure returns a pressure that a node has; empty if it has none.
func Pressure(n *corev1.Node) corev1.NodeConditionType {
	has := under(n)
	if at := slices.Index(has[:], true); at >= 0 {
		return pressures[at]
	}
	return ""
}

// SameRoom reports whether two states of a node have the same room for pods.
func SameRoom(a, b *corev1.Node) bool {
	return a.Status.Allocatable.Cpu().Equal(*b.Status.Allocatable.Cpu()) && a.Status.Allocatable.Memory().Equal(*b.Status.Allocatable.Memory()) && under(a) == under(b)
}
