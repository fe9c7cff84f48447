package cluster

import (
	"fmt"
	"hash/fnv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// ownerChanged reports the pods of a controller whose known owners have changed: other
// holds and autoscalers may apply to these pods.
func (c *Cluster) ownerChanged(uid types.UID) {
	for _, k := range c.pods.ControlledBy(uid) {
		name := k.NamespacedName()
		c.changes.Changed(name)
		for _, tell := range c.above {
			tell(name)
		}
	}
}

// indexController indexes pods by the end of their controller's uid. An index by the whole
// uid would have a set for each controller: 350 bytes for the only pod of a controller,
// instead of 50 bytes.
func indexController(obj any) ([]string, error) {
	of, ok := obj.(*pod.Pod)
	if !ok {
		return nil, nil
	}
	owner := of.Controller()
	if !owner.Exists() {
		return nil, nil
	}
	// Cloned because the index keeps the text longer than the pod that contains it.
	return []string{strings.Clone(endOf(owner.UID))}, nil
}

// endOf returns the last three digits of a uid, which are random. With 4,096 different
// ends, 150,000 pods make 37 pods per end.
func endOf(uid types.UID) string { return string(uid[max(0, len(uid)-3):]) }

// indexDeployment indexes pods by the end of a hash of their Deployment, for the same reason.
func indexDeployment(obj any) ([]string, error) {
	of, ok := obj.(*pod.Pod)
	if !ok {
		return nil, nil
	}
	group := workload.GroupOf(of)
	if _, ok := group.Controller(); ok {
		return nil, nil
	}
	return []string{endOfHash(group)}, nil
}

// endOfHash returns three digits for a workload.
func endOfHash(of workload.Group) string {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(targetKey(of.Namespace, of.Kind, of.Name))) // It never fails.
	return fmt.Sprintf("%03x", hash.Sum32()&0xfff)
}
