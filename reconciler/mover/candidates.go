package mover

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/evict"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// candidate is a pod that may move.
type candidate struct {
	evict.Candidate
	of       *pod.Pod
	settings *policy.Eviction
	message  string
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
		if !g.waits(t.uid) {
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

// podsOnShortNodes returns the pods on nodes that lack room for what their pods need.
func (g *glance) podsOnShortNodes() (due []*candidate) {
	book, _ := g.store.last()
	g.mu.Lock()
	short := make([]string, 0, len(g.short))
	for node := range g.short {
		short = append(short, node)
	}
	g.mu.Unlock()
	slices.Sort(short)
	for _, node := range short {
		if cpu, memory := g.Headroom.Lacks(node); cpu <= 0 && memory <= 0 {
			continue
		}
		for _, of := range g.Cluster.On(node) {
			if !of.Lives() || book.Of(of.UID) != nil || g.waits(of.UID) {
				continue
			}
			w := topOf(of, g.Cluster.Owners().Chain(nil, of))
			c := g.candidate(of, evict.Cause{Namespace: of.Namespace(), Workload: w, Node: node, Reason: headroom}, "its node lacks room for what its pods need")
			if c.settings.Enabled && c.Rest > 0 {
				due = append(due, c)
			}
		}
	}
	return due
}

// candidate returns a pod as one that may move for a cause.
func (g *glance) candidate(of *pod.Pod, cause evict.Cause, message string) *candidate {
	c := &candidate{Candidate: evict.Candidate{Cause: cause, Pod: of.Name, UID: of.UID}, of: of, settings: &g.Table.Profile(of).Eviction, message: message}
	if g.Headroom != nil {
		c.Rest = g.Headroom.Rest(of)
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
	if _, err := evict.RankOf(text, has, c.settings.Rank, c.Workload.Kind, 0); err != nil {
		return fmt.Sprintf("its annotation %s %v, not %q", contract.EvictionRank, err, text)
	}
	if c.Rank == evict.Never {
		return "its rank is never"
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
	limits := s.Budgets()
	c.budget = true
	if len(limits) > 1 {
		return fmt.Sprintf("%d PodDisruptionBudgets select it, and the API server evicts no pod with more than one", len(limits))
	}
	for i := range limits {
		if limits[i].Allowed == 0 {
			return fmt.Sprintf("PodDisruptionBudget %s allows no disruption", limits[i].Name)
		}
	}
	c.budget = false
	return ""
}

// outOfScope are the reasons of plans for pods that are not ours to move.
var outOfScope = map[contract.Reason]bool{
	contract.NotScheduled: true, contract.NotOwned: true, contract.OptedOut: true, contract.Terminating: true, contract.Finished: true, contract.NotRunning: true,
	contract.StaticPod: true, contract.WindowsPod: true, contract.OwnPod: true, contract.NoRequests: true, contract.NodeNotFound: true,
}
