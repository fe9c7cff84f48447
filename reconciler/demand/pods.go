package demand

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// remembered is how long a deleted pod is remembered: samples of its last minutes arrive later.
const remembered = 15 * time.Minute

// mostGone is how many deleted pods are remembered at most.
const mostGone = 200_000

// gone are pods that were deleted lately, and the kills that they showed.
type gone struct {
	mu    sync.Mutex
	pods  map[types.NamespacedName]usage.Identity
	order []ended
	kills []killed
}

// ended is a deleted pod.
type ended struct {
	name types.NamespacedName
	uid  string
	// workload is what it belonged to.
	workload   usage.Workload
	containers []string
	at         time.Time
	run        run
}

// killed are the kills of a pod.
type killed struct {
	name  types.NamespacedName
	uid   string
	kills []pod.Kill
	// at is when the pod was deleted; zero if it exists.
	at time.Time
}

// Lookup returns what a pod belongs to and where it runs, even if it was deleted lately. Without a UID,
// an existing pod with the name takes precedence.
func (d *Demands) Lookup(namespace, name, uid string) (usage.Identity, bool) {
	if p := d.Cluster.Pods(namespace).Get(name); p != nil && (uid == "" || uid == string(p.UID)) {
		if identity, ok := d.identify(p); ok {
			return identity, true
		}
	}
	d.gone.mu.Lock()
	defer d.gone.mu.Unlock()
	identity, ok := d.gone.pods[types.NamespacedName{Namespace: namespace, Name: name}]
	return identity, ok && (uid == "" || uid == identity.UID)
}

// identify returns what a pod belongs to, if anything, and where it runs; false while this is not known.
func (d *Demands) identify(p *pod.Pod) (usage.Identity, bool) {
	table, node := d.Ratios.Table(), d.Cluster.Node(p)
	if table == nil || node == nil {
		return usage.Identity{}, false
	}
	w, _ := d.workloadOf(p)
	rule := d.Planner.Rule(p, node, "", table)
	return usage.Identity{Workload: w, Pod: history.Pod{UID: string(p.UID), NodeType: rule.NodeType}, Created: p.CreatedAt()}, true
}

// podChanged remembers a pod that was deleted, killed or reverted.
func (d *Demands) podChanged(before, now *pod.Pod) {
	d.harms.note(before, now)
	if before == nil || now != nil && now.UID == before.UID {
		return
	}
	d.signals.Forget(before)
	w, ok := d.workloadOf(before)
	if !ok {
		return
	}
	// A node may be deleted before its pods: what a pod has in memory must not stay because of that.
	identity, known := d.identify(before)
	e := ended{name: before.NamespacedName(), uid: string(before.UID), workload: w, at: d.Clock.Now()}
	for i := range before.Containers {
		e.containers = append(e.containers, before.Containers[i].Name())
	}
	if w.ByRuns() {
		e.run = runOf(before)
	}
	d.gone.mu.Lock()
	defer d.gone.mu.Unlock()
	d.gone.order = append(d.gone.order, e)
	if !known {
		return
	}
	d.gone.pods[e.name] = identity
	if kills := before.Kills(); len(kills) > 0 {
		d.gone.kills = append(d.gone.kills, killed{e.name, e.uid, kills, e.at})
	}
}

// forget releases the pods that were deleted long enough ago, and returns the kills of the others.
func (d *Demands) forget(now time.Time) []killed {
	d.gone.mu.Lock()
	n := 0
	for n < len(d.gone.order) && (now.Sub(d.gone.order[n].at) > remembered || len(d.gone.order)-n > mostGone) {
		n++
	}
	old := d.gone.order[:n:n]
	d.gone.order = d.gone.order[n:]
	d.gone.kills = slices.DeleteFunc(d.gone.kills, func(k killed) bool { return now.Sub(k.at) > remembered })
	d.gone.kills = d.gone.kills[max(0, len(d.gone.kills)-mostGone):]
	kills := slices.Clone(d.gone.kills)
	for _, e := range old {
		if d.gone.pods[e.name].UID == e.uid {
			delete(d.gone.pods, e.name)
		}
	}
	d.gone.mu.Unlock()
	for _, e := range old {
		if d.Collects() {
			d.count(e.workload, e.uid, &e.run) // By now, what its last minutes used is known.
		}
		for _, container := range e.containers {
			d.store.Ended(e.workload, container, e.uid)
		}
	}
	return kills
}
