package mover

import (
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/evict"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// Reasons of causes. A pending resize and one that the planner does not begin are the same: what lacks is room on the node.
const (
	noRoom     = string(contract.NodeCapacity)
	infeasible = string(contract.ResizeInfeasible)
	killed     = string(contract.OOMKilled)
	headroom   = "NodeHeadroom"
)

// freshKill is how long after a kill for lack of memory a pod moves without a delay.
const freshKill = time.Hour

// trouble is that a node has no room for what a pod needs.
type trouble struct {
	uid types.UID
	evict.Cause
	// message says what the node lacks, since is when that began, and killedAt when the pod was killed for lack of memory; zero if it
	// was not.
	message         string
	since, killedAt time.Time
}

// Planned takes note of the plan of a pod, nil if the pod is gone.
func (m *Mover) Planned(name types.NamespacedName, of *pod.Pod, p *plan.Plan) {
	if m == nil {
		return
	}
	var lack plan.Lack
	lacks := false
	if p != nil && of.Lives() && p.Kind != plan.Restore {
		lack, lacks = p.Lacks(of)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.lacking[name]
	switch {
	case !lacks && before == nil:
		return
	case !lacks:
		delete(m.lacking, name)
		m.lookSoon() // Its cause is gone.
		return
	}
	now := m.Clock.Now()
	t := &trouble{uid: of.UID, message: lack.Message, since: sinceOf(of, &lack, now)}
	t.Cause = evict.Cause{Namespace: name.Namespace, Workload: topOf(of, p.Workloads), Node: of.Node()}
	t.Reason, t.killedAt = reasonOf(of, &lack, now)
	var lastKilled time.Time
	if before != nil && before.uid == of.UID && before.Node == t.Node {
		t.since, lastKilled = earlier(before.since, t.since), before.killedAt
	}
	m.lacking[name] = t
	m.held[t.Cause] = struct{}{}
	again := t.killedAt.After(lastKilled)
	if again {
		m.hurry(t.uid, now)
	}
	if again || before == nil || before.Cause != t.Cause {
		m.lookSoon()
	}
}

// reasonOf returns the reason of a cause, and when the pod was killed, if that is the reason.
func reasonOf(of *pod.Pod, lack *plan.Lack, now time.Time) (reason string, killedAt time.Time) {
	for _, kill := range of.Kills() {
		if now.Sub(kill.At) < freshKill && slices.Contains(lack.Memory, kill.Container) && kill.At.After(killedAt) {
			killedAt = kill.At
		}
	}
	switch {
	case !killedAt.IsZero():
		return killed, killedAt
	case lack.Code == contract.ResizeInfeasible:
		return infeasible, killedAt
	}
	return noRoom, killedAt
}

// sinceOf returns when the node began to lack what the pod needs, as far as that is known. The clock of the node may be behind, but
// it cannot have lacked that before the pod was resized.
func sinceOf(of *pod.Pod, lack *plan.Lack, now time.Time) time.Time {
	for _, c := range of.Conditions() {
		if c.Code == lack.Code && !c.Since.IsZero() && c.Since.Before(now) {
			if resized := of.ResizedAt(); c.Since.Before(resized) {
				return earlier(resized, now)
			}
			return c.Since
		}
	}
	return now
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// topOf returns the top owner of a pod, so that a rollout is not another workload. Its controller is always an owner.
func topOf(of *pod.Pod, owners []workload.Workload) workload.Workload {
	if len(owners) == 0 {
		return workload.Workload{Kind: of.Controller().Kind, Name: of.Controller().Name}
	}
	return workload.TopOf(of, owners).Workload
}

// shortage is that a node lacks room for what its pods need.
type shortage struct {
	of node.Resources
	// inUse means that the pods use more memory than the node has. since is when the node began to lack what is not in use; zero if
	// it never has. As long as more is in use, that is not known, and it stays.
	inUse bool
	since time.Time
	// leavers are the pods whose leaving makes room.
	leavers map[types.UID]leaver
}

// due returns from when on a pod may move: without a delay if it may be killed otherwise.
func (s *shortage) due(settings *policy.Eviction) time.Time {
	if s.inUse {
		return time.Time{}
	}
	return s.since.Add(settings.After)
}

const mebibyte = 1 << 20

// String says what the node of a pod lacks.
func (s *shortage) String() string {
	memory := sizing.Memory.Text((s.of.Memory + mebibyte - 1) / mebibyte * mebibyte)
	if s.inUse {
		return "the pods on its node use " + memory + " more memory than it has"
	}
	var amounts []string
	if s.of.CPU > 0 {
		amounts = append(amounts, sizing.CPU.Text(s.of.CPU)+" cpu")
	}
	if s.of.Memory > 0 {
		amounts = append(amounts, memory+" memory")
	}
	return "its node lacks " + strings.Join(amounts, " and ") + " for what its pods need together"
}

// NodeChanged takes note that what a node lacks, according to Headroom, may have changed.
func (m *Mover) NodeChanged(name string) {
	if m == nil || m.Headroom == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changed[name] = struct{}{}
	m.lookSoon()
}

// checkNodes finds out which nodes lack room for what their pods need or use, among those of which that may have changed, and
// those that lacked it before: that pods use less is not said. It reports whether any does. Every replica asks, so that the next
// leader knows when that began. As long as nothing may be evicted, none does.
func (m *Mover) checkNodes(now time.Time, enabled bool) (any bool) {
	m.mu.Lock()
	for name := range m.short {
		m.changed[name] = struct{}{}
	}
	ask := m.changed
	if !enabled {
		clear(m.short)
		maps.DeleteFunc(m.changed, func(name string, _ struct{}) bool { return m.Cluster.NodeNamed(name) == nil })
		m.mu.Unlock()
		return false
	}
	m.changed = map[string]struct{}{}
	lacking := map[string]map[string]bool{} // Namespaces of pods that lack room themselves, by node.
	for _, t := range m.lacking {
		if lacking[t.Node] == nil {
			lacking[t.Node] = map[string]bool{}
		}
		lacking[t.Node][t.Namespace] = true
	}
	m.mu.Unlock()
	for name := range ask {
		var lacks shortage
		if lacks.of, lacks.inUse = m.Headroom.Lacks(name); lacks.of != (node.Resources{}) {
			lacks.leavers = m.leaversOf(name, &lacks, lacking[name])
		}
		m.setShort(name, now, &lacks)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.short) > 0
}

// setShort takes note of what a node lacks now.
func (m *Mover) setShort(name string, now time.Time, lacks *shortage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if lacks.of == (node.Resources{}) {
		delete(m.short, name)
		return
	}
	before := m.short[name]
	if lacks.since = before.since; lacks.since.IsZero() && !lacks.inUse {
		lacks.since = now
	}
	m.short[name] = *lacks
	for uid := range lacks.leavers {
		if _, was := before.leavers[uid]; lacks.inUse && (!before.inUse || !was) {
			m.hurry(uid, now)
		}
	}
}

// holding returns a function that reports whether a cause holds now, or did since the last look. An unknown cause holds.
func (m *Mover) holding(knowsNodes bool) func(evict.Cause) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	hold := make(map[evict.Cause]bool, len(m.lacking))
	for c := range m.held {
		hold[c] = true
	}
	m.held = map[evict.Cause]struct{}{}
	for _, t := range m.lacking {
		hold[t.Cause] = true
	}
	short := make(map[string]bool, len(m.short))
	for node := range m.short {
		short[node] = true
	}
	return func(c evict.Cause) bool {
		if c.Reason == headroom {
			return short[c.Node] || !knowsNodes
		}
		return hold[c] || m.Cluster.Owners().Problem() != nil || m.unplanned(c)
	}
}

// unplanned reports whether a pod that a cause may be about has not been planned yet.
func (m *Mover) unplanned(c evict.Cause) bool {
	for _, of := range m.Cluster.On(c.Node) {
		if of.Namespace() == c.Namespace && of.Lives() && !m.Loop.Knows(of) {
			return true
		}
	}
	return false
}
