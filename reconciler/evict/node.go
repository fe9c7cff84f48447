package evict

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	resourcehelper "k8s.io/component-helpers/resource"
)

// Requests returns what a pod requests, as the scheduler counts it. A resize that a node has not completed counts with the
// larger of both amounts.
func Requests(p *corev1.Pod) corev1.ResourceList {
	return resourcehelper.PodRequests(p, resourcehelper.PodResourcesOptions{UseStatusResources: true})
}

// NewNode returns a node with the pods that are placed on it and have not finished. csi says how many volumes it can attach;
// nil if that is not known. claims are the PersistentVolumeClaims of the pods, by namespace and name.
func NewNode(of *corev1.Node, pods []*corev1.Pod, csi *storagev1.CSINode, claims map[string]*Claim) *Node {
	n := &Node{Node: of, Requested: corev1.ResourceList{}, Limits: map[string]int{}, Attached: map[string]int{}}
	if csi != nil {
		for _, driver := range csi.Spec.Drivers {
			if driver.Allocatable != nil && driver.Allocatable.Count != nil {
				n.Limits[driver.Name] = int(*driver.Allocatable.Count)
			}
		}
	}
	attached := map[string]bool{}
	for _, p := range pods {
		if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			continue
		}
		neighbor := NeighborOf(p)
		n.Pods = append(n.Pods, neighbor)
		for name, q := range Requests(p) {
			sum := n.Requested[name]
			sum.Add(q)
			n.Requested[name] = sum
		}
		for _, claim := range neighbor.Claims {
			key := p.Namespace + "/" + claim
			if c := claims[key]; c != nil && c.Driver != "" && !attached[key] {
				attached[key] = true
				n.Attached[c.Driver]++
			}
		}
	}
	return n
}
