package demand

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// revertsOf returns how often a resource of a container of a pod was reverted, as the pod records it. A user who may write
// in our name may record any number: no more counts than the cooldown counts.
func revertsOf(p *pod.Pod) (n int) {
	for i := range p.Reverts() {
		n += min(max(p.Reverts()[i].Times, 1), guard.MostDoublings+1)
	}
	return n
}

// mayHaveCaused reports whether a resize may have caused a kill: the container had less memory than its author wrote. It
// still has that since its last resize, or the resize was reverted because of the kill.
func mayHaveCaused(p *pod.Pod, kill *pod.Kill) bool {
	for i := range p.Reverts() {
		r := &p.Reverts()[i]
		if r.Container == kill.Container && r.Measure == sizing.Memory && r.Harm == contract.OOMKilled && !r.At.Before(kill.At) && kill.At.After(p.AppliedAt()) {
			return true
		}
	}
	if p.ResizedAt().IsZero() || !kill.At.After(p.ResizedAt()) {
		return false
	}
	for i := range p.Containers {
		if c := &p.Containers[i]; c.Name() == kill.Container {
			has, authored := c.Spec.Memory, c.Original.Memory
			return has.Limit < authored.Limit || has.Request < authored.Request
		}
	}
	return false
}

// account is what all pods save, as metrics show it. It is immutable.
type account struct {
	Savings
	// priced means that the configuration has prices.
	priced bool
	// kills is how many kills resizes may have caused since this process started. seen has the last kill of each container
	// that was killed, so that none counts twice, and none from before the start.
	kills int64
	seen  map[victim]time.Time
}

// victim is a container that was killed.
type victim struct {
	pod       types.UID
	container string
}

// addUp adds up what all pods save, once for each publication.
func (d *Demands) addUp(s *survey, need lookup) {
	before := d.account.Load()
	now := &account{priced: s.table.Prices != nil, seen: map[victim]time.Time{}}
	if before != nil {
		now.kills = before.kills
	}
	var owners []workload.Workload
	// Pods in a namespace have workloads and rules in common, which are then in the cache of the processor.
	for _, namespace := range d.Cluster.Pods("").Namespaces() {
		for _, p := range d.Cluster.Pods(namespace).List() {
			owners = d.Cluster.Owners().Chain(owners[:0], p)
			w, _ := d.countsFor(p, owners)
			if one, any := d.savingsOf(p, w, s.table, need); any {
				now.Add(&one)
			}
			now.count(p, before)
		}
	}
	d.account.Store(now)
}

// count counts the kills of a pod, given the account before; nil if there is none.
func (a *account) count(p *pod.Pod, before *account) {
	for i := range p.Kills() {
		kill := &p.Kills()[i]
		of := victim{p.UID, kill.Container}
		if before != nil && kill.At.After(before.seen[of]) && mayHaveCaused(p, kill) {
			a.kills++
		}
		if kill.At.After(a.seen[of]) {
			a.seen[of] = kill.At
		}
	}
}
