package compare

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// Cluster is what must be known of the cluster at the end of an hour.
type Cluster struct {
	// Pods are all pods.
	Pods []*pod.Pod
	// WorkloadOf returns the key of the workload of a pod; false if its pods share no load, or if it has none.
	WorkloadOf func(*pod.Pod) (evidence.Key, bool)
	// PlaceOf returns what a node is; false if it is not known.
	PlaceOf func(node string) (Place, bool)
}

// Place is what a node is. An empty string and 0 mean that it is not known.
type Place struct {
	NodeType, Zone, CPUModel string
	CPUs                     float64
}

const (
	// late is how long after an hour its samples may arrive.
	late = 10 * time.Minute
	// warm is for how long a pod must have been ready so that its caches and compilers are warm.
	warm = time.Hour
	// enough is in how many slots of an hour there must be samples of a container.
	enough = slots - 1
)

// Fold adds the hours that have ended to the evidence, once their samples had time to arrive. It reads the cluster only if there are any.
func (c *Comparisons) Fold(now time.Time, read func() Cluster) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == 0 {
		return
	}
	if now.Before(startOf(c.open).Add(-late)) { // The clock was ahead.
		c.drop()
		return
	}
	folded := false
	for range 2 {
		if now.Before(startOf(c.open + 1).Add(late)) {
			break
		}
		folded = c.fold(read()) || folded
	}
	if !now.Before(startOf(c.open + 1).Add(late)) { // Nothing was folded for hours.
		c.drop()
	}
	if folded {
		c.revision++
		c.changed.Notify()
	}
}

// Drop forgets the hours that are not folded, when another replica begins to collect usage.
func (c *Comparisons) Drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop()
}

func (c *Comparisons) drop() { c.open, c.usages = 0, map[uint64]usage{} }

// member is a pod of a workload.
type member struct {
	workload evidence.Key
	pod      *pod.Pod
}

// fold adds the open hour to the evidence, and opens the next one. It reports whether there were samples.
func (c *Comparisons) fold(in Cluster) (measured bool) {
	hour := c.open
	nodes := c.nodesIn(in, hour)
	if measured = len(nodes) > 0; measured {
		c.evidence.NotAfter(hour) // A clock may have been ahead.
		c.each(in, nodes, hour, c.evidence.Add)
		c.evidence.Forget(hour)
	}
	c.close(hour)
	return measured
}

// each calls a function with what the pods of each workload did in an hour. The replicas must not be kept.
func (c *Comparisons) each(in Cluster, nodes map[evidence.Key]*load, hour int64, do func(evidence.Hour)) {
	members := make([]member, 0, len(in.Pods))
	for _, p := range in.Pods {
		if w, ok := in.WorkloadOf(p); ok && p.Node() != "" && !p.Finished() && p.CreatedAt().Before(startOf(hour+1)) {
			members = append(members, member{w, p})
		}
	}
	slices.SortFunc(members, func(a, b member) int { return cmp.Compare(a.workload, b.workload) })
	h := evidence.Hour{At: hour}
	for i, j := 0, 0; i < len(members); i = j {
		h.Workload, h.Namespace, h.Replicas = members[i].workload, evidence.KeyOf(members[i].pod.Namespace()), h.Replicas[:0]
		for j = i; j < len(members) && members[j].workload == h.Workload; j++ {
			h.Replicas = append(h.Replicas, c.replica(members[j].pod, nodes, hour))
		}
		do(h)
	}
}

// replica returns what a pod did in an hour.
func (c *Comparisons) replica(of *pod.Pod, nodes map[evidence.Key]*load, hour int64) evidence.Replica {
	key := evidence.KeyOf(of.Node())
	r := evidence.Replica{Node: key, Request: requestOf(of), Busy: math.NaN(), Revision: revisionOf(of), Whole: wasWarm(of, startOf(hour))}
	for i := range of.Containers {
		is := &of.Containers[i]
		if !lasts(is) {
			continue
		}
		s := c.usages[c.key(of, is.Name())].hours[hour%2]
		r.CPU += s.mean()
		r.Throttled = r.Throttled || s.flags&throttled != 0
		r.Whole = r.Whole && s.flags&(resized|restarted|cold) == 0 && bits.OnesCount16(s.covered) >= enough
	}
	n := nodes[key]
	if n == nil || n.NodeType == "" {
		r.Whole = false // It cannot be compared with any.
		return r
	}
	r.NodeType, r.Zone, r.CPUModel = n.NodeType, n.Zone, n.CPUModel
	if n.CPUs > 0 && !n.unknown {
		r.Busy = max(0, n.cores-r.CPU) / n.CPUs
	}
	return r
}

// wasWarm reports whether a pod was warm when an hour began, and was ready and not resized by us in that hour, as far as the pod says so.
func wasWarm(of *pod.Pod, begin time.Time) bool {
	ready, since := of.Ready()
	if !ready || of.Terminating() || since.After(begin.Add(-warm)) {
		return false
	}
	at := of.ResizedAt()
	return at.Before(begin) || !at.Before(begin.Add(time.Hour))
}

// revisionOf returns which version of its workload a pod runs.
func revisionOf(of *pod.Pod) evidence.Key {
	for _, label := range [...]string{appsv1.DefaultDeploymentUniqueLabelKey, appsv1.ControllerRevisionHashLabelKey} {
		if hash, ok := of.Label(label); ok {
			return evidence.KeyOf(hash)
		}
	}
	return evidence.KeyOf(string(of.Controller().UID))
}

// load is how much the containers on a node used in an hour.
type load struct {
	Place
	cores float64
	// unknown means that there are no samples of a container.
	unknown bool
}

// nodesIn returns the nodes with samples in an hour.
func (c *Comparisons) nodesIn(in Cluster, hour int64) map[evidence.Key]*load {
	nodes := map[evidence.Key]*load{}
	for _, u := range c.usages {
		s := u.hours[hour%2]
		if s.covered == 0 {
			continue
		}
		n := nodes[u.node]
		if n == nil {
			n = &load{}
			nodes[u.node] = n
		}
		n.cores += s.mean() * s.share()
	}
	looked := map[string]*load{}
	for _, p := range in.Pods {
		if p.Node() == "" {
			continue
		}
		n, known := looked[p.Node()]
		if !known {
			n = nodes[evidence.KeyOf(p.Node())]
			if looked[p.Node()] = n; n != nil {
				n.Place, _ = in.PlaceOf(p.Node())
			}
		}
		// The agent of a node knows static pods by other UIDs than the API server.
		if n != nil && !n.unknown && !p.Static() {
			n.unknown = !c.measured(p, hour)
		}
	}
	return nodes
}

// measured reports whether there are samples of all containers of a pod in the part of an hour in which it ran, except of those that may not run.
func (c *Comparisons) measured(of *pod.Pod, hour int64) bool {
	ran := startOf(hour + 1).Sub(maxTime(startOf(hour), of.StartedAt()))
	for i := range of.Containers {
		is := &of.Containers[i]
		if lasts(is) && is.Ready() && bits.OnesCount16(c.usages[c.key(of, is.Name())].hours[hour%2].covered) < int(ran/slot)-1 {
			return false
		}
	}
	return true
}

// close forgets an hour, and opens the next one.
func (c *Comparisons) close(hour int64) {
	for key, u := range c.usages {
		was, next := u.hours[hour%2], &u.hours[(hour+1)%2]
		if was.flags&restarted != 0 {
			next.flags |= cold
		}
		u.hours[hour%2] = sums{}
		if was.covered == 0 && next.covered == 0 {
			delete(c.usages, key)
		} else {
			c.usages[key] = u
		}
	}
	c.open++
}
