package evict

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// Scene is the cluster around a pod that may move.
type Scene struct {
	// Nodes are all nodes, with that of the pod.
	Nodes []*Node
	// Claims are the claims of the pod, by their names.
	Claims map[string]*Claim
}

// Node is a node, and what runs there.
type Node struct {
	*corev1.Node
	// Requested is what the pods there request, as the scheduler counts it: containers, overhead, and whichever is larger
	// of init containers and the rest.
	Requested corev1.ResourceList
	Pods      []*Neighbor
	// Limits are how many volumes of each CSI driver the node can attach, and Attached how many it has. A driver without a
	// limit has none.
	Limits, Attached map[string]int
}

// Neighbor is what another pod says about pods near it.
type Neighbor struct {
	Namespace string
	UID       types.UID
	Labels    labels.Set
	// Deleting means that it is being deleted.
	Deleting bool
	Ports    []corev1.ContainerPort
	// Claims are the names of its PersistentVolumeClaims.
	Claims []string
	// Repels are its required terms of anti-affinity.
	Repels []corev1.PodAffinityTerm
}

// NeighborOf returns what a pod says about pods near it.
func NeighborOf(p *corev1.Pod) *Neighbor {
	n := &Neighbor{Namespace: p.Namespace, UID: p.UID, Labels: p.Labels, Deleting: p.DeletionTimestamp != nil, Ports: hostPorts(p)}
	for i := range p.Spec.Volumes {
		if claim := p.Spec.Volumes[i].PersistentVolumeClaim; claim != nil {
			n.Claims = append(n.Claims, claim.ClaimName)
		}
	}
	if a := p.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		n.Repels = a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	return n
}

// others yields the pods on all nodes that share a topology domain with on, except for the pod itself.
func (s *Scene) others(self types.UID, key string, on *Node) func(yield func(*Neighbor) bool) {
	domain, has := on.Labels[key]
	return func(yield func(*Neighbor) bool) {
		if !has {
			return
		}
		for _, n := range s.Nodes {
			if n.Labels[key] != domain {
				continue
			}
			for _, other := range n.Pods {
				if other.UID != self && !yield(other) {
					return
				}
			}
		}
	}
}
