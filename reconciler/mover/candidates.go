package mover

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/evict"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// candidate is a pod that may move.
type candidate struct {
	evict.Candidate
	of       *pod.Pod
	settings *policy.Eviction
	message  string
	// quotas are the ResourceQuotas of its namespace, and requests is what the pod requests when it is created again.
	quotas   []*corev1.ResourceQuota
	requests corev1.ResourceList
	// budget means that a PodDisruptionBudget does not permit that it moves.
	budget bool
}

// lackingPods returns the pods whose time has come because their node has no room for them.
func (g *glance) lackingPods() (due []*candidate) {
	g.mu.Lock()
	lacking := make(map[types.NamespacedName]trouble, len(g.lacking))
	for name, t := range g.lacking {
		lacking[name] = *t
	}
	g.mu.Unlock()
	for name, t := range lacking {
		of := g.Cluster.Pods(name.Namespace).Get(name.Name)
		if of == nil || of.UID != t.uid || !of.Lives() {
			continue
		}
		c := g.candidate(of, t.Cause, t.message)
		if !c.settings.Enabled {
			continue
		}
		g.must[t.uid] = true
		if g.isDue(c, t.due(c.settings)) {
			due = append(due, c)
		}
	}
	return due
}

// isDue reports whether a candidate may move that may from a time on, and waits for no other attempt.
func (g *glance) isDue(c *candidate, at time.Time) bool {
	book, _ := g.store.last()
	if at = dueOf(book.Of(c.UID), c.Cause, at, c.settings); g.now.Before(at) {
		g.soon(at)
		return false
	}
	return !g.waits(c.UID, c.Namespace)
}

// dueOf returns from when on a pod may move for a cause, given its entry, nil if it has none. A pod that was chosen for the cause need
// not wait again, say because another replica leads now.
func dueOf(e *evict.Entry, cause evict.Cause, at time.Time, settings *policy.Eviction) time.Time {
	if e != nil && e.Cause == cause && e.Cleared.IsZero() {
		return earlier(at, e.Due(settings.After))
	}
	return at
}

// due returns from when on a pod may move.
func (t *trouble) due(settings *policy.Eviction) time.Time {
	if t.Reason == killed {
		return t.since
	}
	return t.since.Add(settings.After)
}

// podsOnShortNodes returns the pods whose time has come on nodes that lack room for what their pods need or use.
func (g *glance) podsOnShortNodes() (due []*candidate) {
	g.mu.Lock()
	short := maps.Clone(g.short)
	g.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(short)) {
		lacks := short[name]
		for _, l := range lacks.leavers {
			of := l.of
			if l.forOthers {
				continue
			}
			w := topOf(of, g.Cluster.Owners().Chain(nil, of))
			c := g.candidate(of, evict.Cause{Namespace: of.Namespace(), Workload: w, Node: name, Reason: headroom}, lacks.String())
			if !c.settings.Enabled {
				continue
			}
			c.Rest, c.Shares = l.rest, !lacks.inUse
			g.must[of.UID] = true
			if g.isDue(c, lacks.due(c.settings)) {
				due = append(due, c)
			}
		}
	}
	return due
}

// leaver is a pod that needs or uses more of what its node lacks than it does most of the time, and rest is by how much.
type leaver struct {
	of   *pod.Pod
	rest int64
	// forOthers means that it would move for pods in another namespace.
	forOthers bool
}

// leaversOf returns the pods whose leaving makes room on a node, by their UIDs. Nobody moves so that the pods of others can have more:
// only those in the namespace may whose pods have the largest rest together, whether or not each of them may. If more is in use than
// the node has, those count that use it, or else all. If not, and pods lack room themselves, only their namespace may.
func (m *Mover) leaversOf(name string, lacks *shortage, lacking map[string]bool) map[types.UID]leaver {
	all := m.rests(name, lacks.of, lacks.inUse)
	if lacks.inUse && len(all) == 0 {
		all = m.rests(name, lacks.of, false)
	}
	sums, most := map[string]int64{}, int64(0)
	for _, l := range all {
		sums[l.of.Namespace()] += l.rest
		most = max(most, sums[l.of.Namespace()])
	}
	leavers := make(map[types.UID]leaver, len(all))
	for _, l := range all {
		namespace := l.of.Namespace()
		l.forOthers = sums[namespace] < most || !lacks.inUse && len(lacking) > 0 && !lacking[namespace]
		leavers[l.of.UID] = l
	}
	return leavers
}

// rests returns the pods on a node that have a rest of what it lacks.
func (m *Mover) rests(name string, lacks node.Resources, inUse bool) (all []leaver) {
	for _, of := range m.Cluster.On(name) {
		if !of.Lives() {
			continue
		}
		if rest := m.Headroom.Rest(of, lacks, inUse); rest > 0 {
			all = append(all, leaver{of: of, rest: rest})
		}
	}
	return all
}

// candidate returns a pod as one that may move for a cause.
func (g *glance) candidate(of *pod.Pod, cause evict.Cause, message string) *candidate {
	c := &candidate{Candidate: evict.Candidate{Cause: cause, Pod: of.Name, UID: of.UID}, of: of, settings: &g.Table.Profile(of).Eviction, message: message}
	if g.Headroom != nil {
		c.Rest = g.Headroom.Rest(of, node.Resources{}, false)
	}
	s := g.count(cause.Namespace, cause.Workload)
	c.Pods, c.Ready = s.ready+s.others, s.ready
	text, has := of.Annotation(contract.EvictionRank)
	c.Rank, _ = evict.RankOf(text, has, c.settings.Rank, cause.Workload.Kind, c.Pods)
	return c
}

// excludes returns why a pod must not move, as far as that is known without the API server; empty if it may.
func (g *glance) excludes(c *candidate) string {
	if why := neverMoves(c.of, c.settings); why != "" {
		return why
	}
	if h, held := g.Holds.Of(c.Namespace, c.Pod, c.UID, g.Cluster.Owners().Chain(nil, c.of)...); held {
		return fmt.Sprintf("a %s of %s is in effect", h.Kind, h.Scope)
	}
	s := g.Cluster.Snapshot(c.of, g.Rules)
	c.quotas = s.Around.Quotas
	p := g.Planner.Plan(s)
	if _, lacks := p.Lacks(c.of); !lacks && c.Reason != headroom {
		return "its node has room for it"
	}
	if len(p.Reasons) > 0 && outOfScope[p.Reasons[0].Code] {
		return p.Reasons[0].Message
	}
	ready, _ := c.of.Ready()
	why := refusedBy(s.Budgets(), ready)
	c.budget = why != ""
	return why
}

// neverMoves returns why a pod never moves, as far as the cache tells; empty if it may.
func neverMoves(of *pod.Pod, settings *policy.Eviction) string {
	if why := evict.ProtectedBy(of.Controller().Kind); why != "" {
		return why
	}
	rank, has := of.Annotation(contract.EvictionRank)
	return neverByRank(rank, has, settings)
}

// neverByRank returns why the rank in the annotation of a pod, or else in its rule, keeps the pod where it is; empty if it does not.
func neverByRank(annotation string, annotated bool, settings *policy.Eviction) string {
	switch rank, err := evict.RankOf(annotation, annotated, settings.Rank, "", 0); {
	case err != nil:
		return fmt.Sprintf("its annotation %s is %q, but %v", contract.EvictionRank, annotation, err)
	case rank == evict.Never && annotated:
		return "its rank is never, as its annotation " + contract.EvictionRank + " says"
	case rank == evict.Never:
		return "its rank is never, as eviction.rank says"
	}
	return ""
}

// refusedBy returns why the API server evicts no pod that budgets select; empty if it may. Of a pod that is not ready, which is
// what a kill for lack of memory leaves, a budget that allows no disruption says nothing: the others are as many as before.
func refusedBy(budgets []workload.Limit, ready bool) string {
	switch {
	case len(budgets) > 1:
		return fmt.Sprintf("%d PodDisruptionBudgets select it, and the API server evicts no pod with more than one", len(budgets))
	case len(budgets) == 1 && budgets[0].Allowed == 0 && ready:
		return fmt.Sprintf("PodDisruptionBudget %s allows no disruption", budgets[0].Name)
	}
	return ""
}

// outOfScope are the reasons of plans for pods that are not ours to move.
var outOfScope = map[contract.Reason]bool{
	contract.NotScheduled: true, contract.NotOwned: true, contract.OptedOut: true, contract.Terminating: true, contract.Finished: true, contract.NotRunning: true,
	contract.StaticPod: true, contract.WindowsPod: true, contract.OwnPod: true, contract.NoRequests: true, contract.NodeNotFound: true,
}
