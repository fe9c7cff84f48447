package evict

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// Claim is what is known of a PersistentVolumeClaim.
type Claim struct {
	// Bound means that it has a volume.
	Bound bool
	// Local means that the volume is a disk of one node.
	Local bool
	// Shared means that the claim can be used on several nodes at the same time.
	Shared bool
	// Driver is the CSI driver of the volume; empty if it has none.
	Driver string
	// nodes are those where the volume can be used; nil for all nodes.
	nodes *nodeaffinity.LazyErrorNodeSelector
}

// NewClaim returns what a claim and its volume say; the volume is nil if it is not known.
func NewClaim(of *corev1.PersistentVolumeClaim, volume *corev1.PersistentVolume) *Claim {
	c := &Claim{Bound: of.Status.Phase == corev1.ClaimBound && volume != nil}
	for _, mode := range of.Spec.AccessModes {
		c.Shared = c.Shared || mode == corev1.ReadWriteMany || mode == corev1.ReadOnlyMany
	}
	if volume == nil {
		return c
	}
	c.Local = volume.Spec.Local != nil || volume.Spec.HostPath != nil
	if volume.Spec.CSI != nil {
		c.Driver = volume.Spec.CSI.Driver
	}
	if volume.Spec.NodeAffinity != nil && volume.Spec.NodeAffinity.Required != nil {
		c.nodes = nodeaffinity.NewLazyErrorNodeSelector(volume.Spec.NodeAffinity.Required)
	}
	return c
}

// usable reports whether the volume can be used on a node.
func (c *Claim) usable(on *corev1.Node) bool {
	if c.nodes == nil {
		return true
	}
	match, err := c.nodes.Match(on)
	return err == nil && match
}
