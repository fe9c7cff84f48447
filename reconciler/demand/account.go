package demand

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

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
			one := d.savingsOf(p, w, s.table, need)
			now.Add(&one)
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
		if before != nil && kill.At.After(before.seen[of]) && guard.MayHaveKilled(p, kill) {
			a.kills++
		}
		if kill.At.After(a.seen[of]) {
			a.seen[of] = kill.At
		}
	}
}
