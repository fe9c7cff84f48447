package demand

import (
	"cmp"
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
	"github.com/workload-resizer/workload-resizer/reconciler/compare"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
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
			e.demands.compare(p, &sample)
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

// compare adds a sample to what its container used in the current hour.
func (d *Demands) compare(p *pod.Pod, sample *usage.Sample) {
	if d.Comparisons == nil || sample.Resource != history.CPU {
		return
	}
	if sample.UID == "" && sample.At.Add(-sample.Length).Before(p.CreatedAt()) {
		return // It may be of an earlier pod with the name, as in a StatefulSet.
	}
	s := compare.Sample{At: sample.At, Length: sample.Length, Cores: cmp.Or(sample.Cores, float64(sample.Usage)/1000), Throttled: -1}
	switch {
	case sample.Strain.Throttled.Known:
		s.Throttled = float64(sample.Strain.Throttled.N)
	case sample.Throttled:
		s.Throttled = 1
	}
	d.Comparisons.Take(p, sample.Container, &s, d.Clock.Now())
}

// fold adds the hours that have ended to the evidence of how fast node types are.
func (d *Demands) fold(table *ratios.Table) {
	switch {
	case d.Comparisons == nil:
	case !d.Collects():
		d.Comparisons.Drop()
	default:
		d.Comparisons.Fold(d.Clock.Now(), func() compare.Cluster {
			return compare.Cluster{
				Pods: d.Cluster.Pods("").List(), WorkloadOf: d.keyOf, PlaceOf: func(node string) (compare.Place, bool) { return d.placeOf(node, table) },
				WorkOf: func(of *pod.Pod, hour int64) compare.Work { return d.workDone(&table.Profile(of).Work, of, hour) },
			}
		})
	}
}

// keyOf returns the key of the workload of a pod in the evidence; false if its pods are not compared. Those of a DaemonSet do what their
// nodes need, and those of a Job as much as they can: they share no load.
func (d *Demands) keyOf(p *pod.Pod) (evidence.Key, bool) {
	w, ok := d.workloadOf(p)
	return compare.KeyOf(w.Namespace, w.Kind, w.Name), ok && w.Kind != "DaemonSet" && !w.ByRuns()
}

// workDone returns what is known of the work that a pod did in an hour, by the settings of its rule.
func (d *Demands) workDone(by *policy.Work, of *pod.Pod, hour int64) compare.Work {
	is := compare.Work{Pulls: by.Pulls}
	if by.Counts() && d.Work != nil {
		is.Unit, is.Done = evidence.KeyOf(by.Prometheus, by.Query), d.Work(of, by, hour)
	}
	return is
}

// placeOf returns what a node is, with its type by the globals; false if it is not known.
func (d *Demands) placeOf(name string, table *ratios.Table) (is compare.Place, known bool) {
	node := d.Cluster.NodeNamed(name)
	if node == nil {
		return is, false
	}
	match, _ := d.Planner.NodeTypes.Resolve(node.Labels, table.Knows)
	is.NodeType, is.Zone, is.CPUs = match.NodeType, node.Labels[corev1.LabelTopologyZone], node.Status.Capacity.Cpu().AsApproximateFloat64()
	is.CPUModel, _ = nodetype.Model(node.Labels)
	return is, true
}
