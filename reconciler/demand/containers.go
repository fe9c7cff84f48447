package demand

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// PodsOn returns the pods on a node by their UIDs, or those on all nodes if the name is empty.
func (d *Demands) PodsOn(node string) map[types.UID]*pod.Pod {
	pods := d.Cluster.Pods("").List
	if node != "" {
		pods = func() []*pod.Pod { return d.Cluster.On(node) }
	}
	all := map[types.UID]*pod.Pod{}
	for _, p := range pods() {
		all[p.UID] = p
	}
	return all
}

// Ready returns a NotReadyError while the pods and nodes are not known.
func (d *Demands) Ready() error { return d.Cluster.CacheReady() }

// Capacity returns what the node of a pod has, in millicores and bytes; 0 for what is not known.
func (d *Demands) Capacity(of *pod.Pod) recommend.Amounts {
	node := d.Cluster.Node(of)
	if node == nil {
		return recommend.Amounts{}
	}
	return recommend.Amounts{CPU: node.Status.Capacity.Cpu().MilliValue(), Memory: node.Status.Capacity.Memory().Value()}
}

// existing is a source without the ephemeral containers of pods: each has a new name, of which nothing
// can be learned for others.
type existing struct {
	usage.Source
	demands *Demands
}

// Read implements usage.Source.
func (e existing) Read(ctx context.Context, since, until time.Time, observe func(usage.Sample)) error {
	return e.Source.Read(ctx, since, until, func(sample usage.Sample) {
		p := e.demands.podOf(&sample)
		if !mayHave(p, &sample) {
			return
		}
		if p != nil {
			e.demands.signal(p, &sample)
		}
		observe(sample)
	})
}

// podOf returns the pod of a sample; nil if it is not known now.
func (d *Demands) podOf(sample *usage.Sample) *pod.Pod {
	p := d.Cluster.Pods(sample.Namespace).Get(sample.Name)
	if p == nil || sample.UID != "" && sample.UID != string(p.UID) {
		return nil
	}
	return p
}

// mayHave reports whether the pod of a sample has its container, or is not known.
func mayHave(p *pod.Pod, sample *usage.Sample) bool {
	if p == nil {
		return true
	}
	for i := range p.Containers {
		if p.Containers[i].Name() == sample.Container {
			return true
		}
	}
	return false
}
