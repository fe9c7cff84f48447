package demand

import (
	"cmp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/usage"
)

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
