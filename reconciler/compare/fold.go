package compare

import (
	"cmp"
	"math"
	"slices"
	"strconv"
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
	// WorkOf returns what is known of the work that a pod did in an hour.
	WorkOf func(of *pod.Pod, hour int64) Work
}

// Work is what is known of the work that a pod did in an hour.
type Work struct {
	// Pulls means that the pod takes work from a queue when it has time for it.
	Pulls bool
	// Unit is what the work is counted in; 0 if it is not counted. Work in one unit is never compared with work in another.
	Unit evidence.Key
	// Done is how many units the pod did, per second or in total; 0 if that is not known.
	Done float64
}

// Place is what a node is. An empty string and 0 mean that it is not known.
type Place struct {
	NodeType, Zone, CPUModel string
	CPUs                     float64
}

// Late is how long after an hour its samples may arrive, and its work may become known.
const Late = 10 * time.Minute

const (
	// warm is for how long a pod must have been ready so that its caches and compilers are warm.
	warm = time.Hour
	// little is the share of a node's CPUs that pods without samples may request, so that it is known how busy the node is.
	little = 0.1
)

// Fold adds the hours that have ended to the evidence, once their samples had time to arrive. It reads the cluster only if there are any.
func (c *Comparisons) Fold(now time.Time, read func() Cluster) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == 0 {
		return
	}
	if now.Before(startOf(c.open).Add(-Late)) { // The clock was ahead.
		c.drop()
		return
	}
	for range 2 {
		if now.Before(startOf(c.open + 1).Add(Late)) {
			break
		}
		c.fold(read())
	}
	if !now.Before(startOf(c.open + 1).Add(Late)) { // Nothing was folded for hours.
		c.drop()
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

// fold adds the open hour to the evidence if there were samples, and opens the next one.
func (c *Comparisons) fold(in Cluster) {
	hour := c.open
	if nodes := c.nodesIn(in, hour); len(nodes) > 0 {
		c.evidence.NotAfter(hour) // A clock may have been ahead.
		c.each(in, nodes, hour, c.evidence.Add)
		c.evidence.Forget(hour)
	}
	c.close(hour)
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
		h.Workload, h.Namespace, h.Pulls, h.Replicas = members[i].workload, evidence.KeyOf(members[i].pod.Namespace()), false, h.Replicas[:0]
		for j = i; j < len(members) && members[j].workload == h.Workload; j++ {
			work := in.WorkOf(members[j].pod, hour)
			h.Pulls = h.Pulls || work.Pulls
			h.Replicas = append(h.Replicas, c.replica(members[j].pod, &work, nodes, hour))
		}
		do(h)
	}
}

// replica returns what a pod did in an hour.
func (c *Comparisons) replica(of *pod.Pod, work *Work, nodes map[evidence.Key]*load, hour int64) evidence.Replica {
	key := evidence.KeyOf(of.Node())
	r := evidence.Replica{Node: key, Request: requestOf(of), Work: work.Done, Busy: math.NaN(), Revision: revisionOf(of, work), Whole: wasWarm(of, startOf(hour))}
	for i := range of.Containers {
		is := &of.Containers[i]
		if !lasts(is) {
			continue
		}
		s := c.usages[c.key(of, is.Name())].hours[hour%2]
		r.CPU += s.mean()
		r.Throttled = r.Throttled || s.wasThrottled()
		r.Whole = r.Whole && s.flags&(resized|restarted|cold) == 0 && c.covers(&s)
	}
	n := nodes[key]
	if n == nil || n.NodeType == "" {
		r.Whole = false // It cannot be compared with any.
		return r
	}
	r.NodeType, r.Zone, r.CPUModel = n.NodeType, n.Zone, n.CPUModel
	if n.CPUs > 0 && n.unmeasured <= little*n.CPUs {
		r.Busy = max(0, n.cores+n.unmeasured-r.CPU) / n.CPUs
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

// revisionOf returns which version of its workload a pod runs. Versions do unlike work, and so do those whose work is counted in unlike units.
func revisionOf(of *pod.Pod, work *Work) evidence.Key {
	version := versionOf(of)
	if work.Unit == 0 {
		return evidence.KeyOf(version)
	}
	return evidence.KeyOf(version, strconv.FormatUint(uint64(work.Unit), 16))
}

func versionOf(of *pod.Pod) string {
	for _, label := range [...]string{appsv1.DefaultDeploymentUniqueLabelKey, appsv1.ControllerRevisionHashLabelKey} {
		if hash, ok := of.Label(label); ok {
			return hash
		}
	}
	return string(of.Controller().UID)
}

// load is how much the containers on a node used in an hour.
type load struct {
	Place
	cores float64
	// unmeasured is how many cores those containers request of which there are no samples. It is infinite if one requests none.
	unmeasured float64
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
		n.cores += s.mean() * c.share(&s)
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
		if n != nil && !p.Static() {
			n.unmeasured += c.unmeasured(p, hour)
		}
	}
	return nodes
}

// unmeasured returns how many cores those containers of a pod request that lack samples of a part of the hour in which the pod ran. Those that may
// not run do not count. It is infinite if one requests none: it may use any number.
func (c *Comparisons) unmeasured(of *pod.Pod, hour int64) (cores float64) {
	began := slices.MaxFunc([]time.Time{startOf(hour), of.StartedAt()}, time.Time.Compare)
	least := int(startOf(hour+1).Sub(began)/(time.Duration(c.part)*slot)) - 1
	for i := range of.Containers {
		is := &of.Containers[i]
		if !lasts(is) || !is.Ready() || c.parts(c.usages[c.key(of, is.Name())].hours[hour%2].covered) >= least {
			continue
		}
		request := is.InForce().CPU.Request
		if request == 0 {
			return math.Inf(1)
		}
		cores += float64(request) / 1000
	}
	return cores
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
