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

// shortNode is what the node of a pod lacks whose cause is headroom.
const shortNode = "its node lacks room for what its pods need"

// candidate is a pod that may move.
type candidate struct {
	evict.Candidate
	of       *pod.Pod
	settings *policy.Eviction
	message  string
	// requests are what the pod requests when it is created again.
	requests corev1.ResourceList
	// budget means that a PodDisruptionBudget does not permit that it moves.
	budget bool
}

// lackingPods returns the pods whose time has come because their node has no room for them.
func (g *glance) lackingPods() (due []*candidate) {
	book, _ := g.store.last()
	g.mu.Lock()
	lacking := make(map[types.NamespacedName]trouble, len(g.lacking))
	for name, t := range g.lacking {
		lacking[name] = *t
	}
	g.mu.Unlock()
	for name, t := range lacking {
		of := g.Cluster.Pods(name.Namespace).Get(name.Name)
		if of == nil || of.UID != t.uid || !of.Lives() || book.Of(t.uid) != nil {
			continue
		}
		c := g.candidate(of, t.Cause, t.message)
		if !c.settings.Enabled {
			continue
		}
		if at := t.due(c.settings); g.now.Before(at) {
			g.soon(at)
			continue
		}
		if !g.waits(t.uid, name.Namespace) {
			due = append(due, c)
		}
	}
	return due
}

// due returns from when on a pod may move.
func (t *trouble) due(settings *policy.Eviction) time.Time {
	if t.Reason == killed {
		return t.since
	}
	return t.since.Add(settings.After)
}

// podsOnShortNodes returns the pods on nodes that lack room for what their pods need or use, and that need or use more of it
// than they do most of the time.
func (g *glance) podsOnShortNodes() (due []*candidate) {
	g.mu.Lock()
	short := maps.Clone(g.short)
	g.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(short)) {
		g.soon(g.now.Add(mostPause)) // That pods use less is not said.
		lacks := short[name]
		due = append(due, g.podsOnShortNode(name, &lacks)...)
	}
	return due
}

// podsOnShortNode returns the pods on a node that lacks something whose time has come.
func (g *glance) podsOnShortNode(name string, lacks *shortage) (due []*candidate) {
	book, _ := g.store.last()
	for _, l := range g.leavers(name, lacks.of) {
		of := l.of
		if l.stays || book.Of(of.UID) != nil {
			continue
		}
		w := topOf(of, g.Cluster.Owners().Chain(nil, of))
		c := g.candidate(of, evict.Cause{Namespace: of.Namespace(), Workload: w, Node: name, Reason: headroom}, shortNode)
		c.Rest = l.rest
		if at := lacks.due(c.settings); c.settings.Enabled && g.now.Before(at) {
			g.soon(at)
		} else if c.settings.Enabled && !g.waits(of.UID, of.Namespace()) {
			due = append(due, c)
		}
	}
	return due
}

// leaver is a pod that needs or uses more of what its node lacks than it does most of the time, and rest is by how much.
type leaver struct {
	of   *pod.Pod
	rest int64
	// stays means that a pod in another namespace has a larger rest.
	stays bool
}

// leavers returns the pods whose leaving makes room on a node. Only those in the namespace of the pod with the largest rest may,
// whether or not that pod itself may: nobody moves so that the pods of others can have more.
func (m *Mover) leavers(name string, lacks node.Resources) (all []leaver) {
	largest, most := map[string]int64{}, int64(0)
	for _, of := range m.Cluster.On(name) {
		if !of.Lives() {
			continue
		}
		if rest := m.Headroom.Rest(of, lacks); rest > 0 {
			all = append(all, leaver{of: of, rest: rest})
			largest[of.Namespace()], most = max(largest[of.Namespace()], rest), max(most, rest)
		}
	}
	for i := range all {
		all[i].stays = largest[all[i].of.Namespace()] < most
	}
	return all
}

// candidate returns a pod as one that may move for a cause.
func (g *glance) candidate(of *pod.Pod, cause evict.Cause, message string) *candidate {
	c := &candidate{Candidate: evict.Candidate{Cause: cause, Pod: of.Name, UID: of.UID}, of: of, settings: &g.Table.Profile(of).Eviction, message: message}
	if g.Headroom != nil {
		c.Rest = g.Headroom.Rest(of, node.Resources{})
	}
	s := g.count(cause.Namespace, cause.Workload)
	c.Pods, c.Ready = s.ready+s.others, s.ready
	text, has := of.Annotation(contract.EvictionRank)
	c.Rank, _ = evict.RankOf(text, has, c.settings.Rank, cause.Workload.Kind, c.Pods)
	return c
}

// excludes returns why a pod must not move, as far as that is known without the API server; empty if it may.
func (g *glance) excludes(c *candidate) string {
	if !c.settings.Enabled {
		return "eviction.enabled is false for it"
	}
	text, has := c.of.Annotation(contract.EvictionRank)
	if why := keptByRank(text, has, c.settings); why != "" {
		return why
	}
	if h, held := g.Holds.Of(c.Namespace, c.Pod, c.UID, g.Cluster.Owners().Chain(nil, c.of)...); held {
		return fmt.Sprintf("a %s of %s is in effect", h.Kind, h.Scope)
	}
	s := g.Cluster.Snapshot(c.of, g.Rules)
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

// keptByRank returns why the rank in the annotation of a pod, or else in its rule, keeps the pod where it is; empty if it does not.
func keptByRank(annotation string, annotated bool, settings *policy.Eviction) string {
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
