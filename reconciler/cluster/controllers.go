package cluster

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// ownerChanged tells of the pods of a controller above which something else is known than
// before: other holds and autoscalers may be for them.
func (c *Cluster) ownerChanged(uid types.UID) {
	for _, k := range c.pods.ControlledBy(uid) {
		name := k.NamespacedName()
		c.changes.Changed(name)
		for _, tell := range c.above {
			tell(name)
		}
	}
}

// indexController is the index of pods by the end of their controller's uid. One by the
// whole uid would have a set for each controller: 350 bytes for a pod that is its
// controller's only one, where this has 50.
func indexController(obj any) ([]string, error) {
	of, ok := obj.(*pod.Pod)
	if !ok {
		return nil, nil
	}
	owner := of.Controller()
	if !owner.Exists() {
		return nil, nil
	}
	// The index keeps it for longer than the pod that it is part of.
	return []string{strings.Clone(endOf(owner.UID))}, nil
}

// endOf is the last three digits of a uid, which are random: among 4,096 ends, 150,000
// pods come to 37 of each.
func endOf(uid types.UID) string { return string(uid[max(0, len(uid)-3):]) }
