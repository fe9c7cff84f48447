package demand

import (
	"cmp"
	"context"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
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

// Compared is a workload whose replicas are compared, and what tells its pods from others.
type Compared struct {
	usage.Workload
	// Pod is one of its pods.
	Pod *pod.Pod
	// Key and Value are a label that all of its pods have, and no other pod in the namespace; empty if there is none that lasts.
	Key, Value string
	// Alone means that all pods in the namespace are its own.
	Alone bool

	pods int
}

// Compared returns those workloads that have the given keys in the evidence, which knows no names, if they still have pods. visible returns
// which namespaces count; it is only asked about those with such workloads.
func (d *Demands) Compared(keys []evidence.Key, visible func(namespaces ...string) ([]string, error)) (map[evidence.Key]*Compared, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	all := map[evidence.Key]*Compared{}
	for _, key := range keys {
		all[key] = &Compared{}
	}
	of := d.countCompared(all)
	in := map[string][]*Compared{}
	for key, c := range all {
		if c.pods == 0 {
			delete(all, key)
		} else {
			in[c.Namespace] = append(in[c.Namespace], c)
		}
	}
	var names []string
	for namespace := range in {
		names = append(names, namespace)
	}
	slices.Sort(names)
	names, err := visible(names...)
	if err != nil {
		return nil, err
	}
	for key, c := range all {
		if !slices.Contains(names, c.Namespace) {
			delete(all, key)
		}
	}
	for _, namespace := range names {
		d.tellApart(namespace, in[namespace], func(p *pod.Pod) *Compared { return all[of[ownerAt(p)]] })
	}
	return all, nil
}

// owner is a controller of pods, whose workload is found once instead of once per pod. A pod can name any UID.
type owner struct {
	namespace string
	pod.Controller
}

func ownerAt(p *pod.Pod) owner { return owner{p.Namespace(), p.Controller()} }

// countCompared counts the pods of workloads. It returns the keys of all controllers; 0 if their pods are not compared.
func (d *Demands) countCompared(all map[evidence.Key]*Compared) map[owner]evidence.Key {
	of := map[owner]evidence.Key{}
	for _, p := range d.Cluster.Pods("").List() {
		at := ownerAt(p)
		key, known := of[at]
		if !known {
			if is, compared := d.keyOf(p); compared {
				key = is
			}
			of[at] = key
		}
		c := all[key]
		if key == 0 || c == nil {
			continue
		}
		if c.pods++; c.Pod == nil || cmp.Compare(p.NamespacedName().Name, c.Pod.NamespacedName().Name) < 0 {
			c.Pod = p
		}
		if c.Name == "" {
			c.Workload, _ = d.workloadOf(p)
		}
	}
	return of
}

// label is a label with its value.
type label struct{ key, value string }

// tellApart finds a label of each of the workloads in a namespace that no other pod there has.
func (d *Demands) tellApart(namespace string, workloads []*Compared, of func(*pod.Pod) *Compared) {
	labels, own := map[label]int{}, map[*Compared]map[label]int{}
	for _, c := range workloads {
		own[c] = map[label]int{}
		for _, l := range naming(c) {
			labels[l] = 0
		}
	}
	pods := d.Cluster.Pods(namespace).List()
	for _, p := range pods {
		mine := own[of(p)]
		for key, value := range p.Labels().All() {
			l := label{key, value}
			if _, may := labels[l]; !may {
				continue
			}
			if labels[l]++; mine != nil {
				mine[l]++
			}
		}
	}
	for _, c := range workloads {
		c.Alone = c.pods == len(pods)
		for _, l := range naming(c) {
			if own[c][l] == c.pods && labels[l] == c.pods {
				c.Key, c.Value = l.key, l.value
				break
			}
		}
	}
}

// usual are the labels by which pods are usually named, the most usual ones first.
var usual = []string{"app.kubernetes.io/name", "app", "k8s-app", "app.kubernetes.io/instance", "app.kubernetes.io/component", "component", "name"}

// passing are labels that other pods of a workload do not have, or will not have.
var passing = []string{appsv1.DefaultDeploymentUniqueLabelKey, appsv1.ControllerRevisionHashLabelKey, appsv1.StatefulSetPodNameLabel, appsv1.PodIndexLabel}

// naming returns the labels of a workload that may name it, in order: the usual ones, and others with its name as their value. Labels
// such as a version would name it only for a while.
func naming(c *Compared) (all []label) {
	for _, key := range usual {
		if value, ok := c.Pod.Label(key); ok && value != "" {
			all = append(all, label{key, value})
		}
	}
	for key, value := range c.Pod.Labels().All() {
		if value == c.Name && !slices.Contains(usual, key) && !slices.Contains(passing, key) {
			all = append(all, label{key, value})
		}
	}
	return all
}
