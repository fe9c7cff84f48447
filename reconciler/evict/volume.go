package evict

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// Claim is what is known of a PersistentVolumeClaim.
type Claim struct {
	// Bound means that it has a volume, of which it is known where it can be used. A claim that is being deleted is gone as soon as
	// its pod is.
	Bound bool
	// Local means that the volume is a disk of one node.
	Local bool
	// Shared means that the claim can be used on several nodes at the same time.
	Shared bool
	// Driver is the CSI driver of the volume; empty if it has none.
	Driver string
	// nodes are those where the volume can be used; nil for all nodes. Some labels of a volume do the same.
	nodes  *nodeaffinity.LazyErrorNodeSelector
	labels map[string][]string
}

// NewClaim returns what a claim and its volume say; the volume is nil if it is not known.
func NewClaim(of *corev1.PersistentVolumeClaim, volume *corev1.PersistentVolume) *Claim {
	c := &Claim{Bound: of.Status.Phase == corev1.ClaimBound && of.DeletionTimestamp == nil && volume != nil && !unnamed(&volume.Spec.PersistentVolumeSource)}
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
	for _, key := range topologies {
		if values, has := volume.Labels[key]; has {
			if c.labels == nil {
				c.labels = map[string][]string{}
			}
			c.labels[key] = strings.Split(values, "__")
		}
	}
	if volume.Spec.NodeAffinity != nil && volume.Spec.NodeAffinity.Required != nil {
		c.nodes = nodeaffinity.NewLazyErrorNodeSelector(volume.Spec.NodeAffinity.Required)
	}
	return c
}

// topologies are the labels of volumes that the scheduler compares with those of nodes.
var topologies = [...]string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion, corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion}

// unnamed reports whether a CSI driver attaches a volume that does not name it, so that it is not known how many more a node can
// attach.
func unnamed(v *corev1.PersistentVolumeSource) bool {
	return v.AWSElasticBlockStore != nil || v.GCEPersistentDisk != nil || v.AzureDisk != nil || v.Cinder != nil || v.VsphereVolume != nil || v.PortworxVolume != nil
}

// usable reports whether the volume can be used on a node.
func (c *Claim) usable(on *corev1.Node) bool {
	for key, values := range c.labels {
		if value, has := on.Labels[key]; !has || !slices.Contains(values, value) {
			return false
		}
	}
	if c.nodes == nil {
		return true
	}
	match, err := c.nodes.Match(on)
	return err == nil && match
}
