package evict

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// Scene is the cluster around a pod that may move. The zero value is empty.
type Scene struct {
	// Nodes are all nodes, with that of the pod.
	Nodes []*Node
	// Claims are the claims of the pod, by their names.
	Claims map[string]*Claim
	// Coming is what pods request that may be placed on any of the nodes any time now.
	Coming []corev1.ResourceList

	// read has what results of pod.Pod.Nearby say.
	read map[string]*pod.Nearby
}

// Node is a node, and what runs there.
type Node struct {
	*corev1.Node
	// Requested is what the pods there request, as the scheduler counts it: containers, overhead, and whichever is larger
	// of init containers and the rest.
	Requested corev1.ResourceList
	Pods      []Neighbor
	// Limits are how many volumes of each of its CSI drivers the node can attach, which may be any number. They are nil if that is
	// not known.
	Limits map[string]int
	// Vague means that not all is known of what a pod there means for others.
	Vague bool
	// Attached is the most volumes that can be attached now.
	Attached int
}

// Neighbor is what another pod says about pods near it.
type Neighbor struct {
	Namespace string
	UID       types.UID
	Labels    labels.Labels
	// Deleting means that it is being deleted.
	Deleting bool
	*pod.Nearby
}

// neighborOf returns what a pod that may move says about pods near it.
func neighborOf(p *corev1.Pod) *Neighbor {
	nearby := pod.NearbyOf(p)
	return &Neighbor{Namespace: p.Namespace, UID: p.UID, Labels: labels.Set(p.Labels), Deleting: p.DeletionTimestamp != nil, Nearby: &nearby}
}

var plain pod.Nearby

// Add adds a node with the pods that are placed on it, except for those that have finished.
func (s *Scene) Add(of *corev1.Node, pods []*pod.Pod) *Node {
	n := &Node{Node: of, Requested: corev1.ResourceList{}, Pods: make([]Neighbor, 0, len(pods))}
	var sum node.Resources
	attached := map[string]bool{}
	for _, p := range pods {
		if p.Finished() {
			continue
		}
		neighbor := Neighbor{Namespace: p.Namespace(), UID: p.UID, Labels: p.Labels(), Deleting: p.Terminating(), Nearby: s.nearby(p.Nearby())}
		n.Pods, n.Vague = append(n.Pods, neighbor), n.Vague || neighbor.Vague
		sum = sum.Plus(node.Requests(p)).AtMost(node.Most)
		for name, q := range neighbor.Requests {
			total := n.Requested[name]
			total.Add(q)
			n.Requested[name] = total
		}
		for _, claim := range neighbor.Claims {
			attached[neighbor.Namespace+"/"+claim] = true
		}
	}
	n.Requested[corev1.ResourceCPU], n.Requested[corev1.ResourceMemory] = *resource.NewMilliQuantity(sum.CPU, resource.DecimalSI), *resource.NewQuantity(sum.Memory, resource.BinarySI)
	n.Attached = len(attached)
	s.Nodes = append(s.Nodes, n)
	return n
}

// nearby reads a result of pod.Pod.Nearby, once for all pods with the same.
func (s *Scene) nearby(text string) *pod.Nearby {
	if text == "" {
		return &plain
	}
	n := s.read[text]
	if n == nil {
		parsed := pod.ParseNearby(text)
		n = &parsed
		if s.read == nil {
			s.read = map[string]*pod.Nearby{}
		}
		s.read[text] = n
	}
	return n
}

// Limit sets how many volumes the node can attach.
func (n *Node) Limit(csi *storagev1.CSINode) {
	n.Limits = map[string]int{}
	for _, driver := range csi.Spec.Drivers {
		n.Limits[driver.Name] = math.MaxInt
		if driver.Allocatable != nil && driver.Allocatable.Count != nil {
			n.Limits[driver.Name] = int(*driver.Allocatable.Count)
		}
	}
}
