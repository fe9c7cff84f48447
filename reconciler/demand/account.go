package demand

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
	"github.com/workload-resizer/workload-resizer/usage/trend"
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
	// at is when it was added up, and collected means that this process collected usage then.
	at        time.Time
	collected bool
	// counted is what the cluster had, times the seconds, since this process started. Each amount is added up by itself, so that none
	// decreases.
	counted struct{ authored, requested, measured, used trend.Resources }
}

// victim is a container that was killed.
type victim struct {
	pod       types.UID
	container string
}

// addUp adds up what all pods save, once for each publication.
func (d *Demands) addUp(s *survey, need lookup) {
	before := d.account.Load()
	now := &account{priced: s.table.Prices != nil, seen: map[victim]time.Time{}, at: d.Clock.Now(), collected: d.Collects()}
	have := map[trend.Subject]*trend.Amounts{}
	if before != nil {
		now.kills, now.counted = before.kills, before.counted
	}
	var owners []workload.Workload
	// Pods in a namespace have workloads and rules in common, which are then in the cache of the processor.
	for _, namespace := range d.Cluster.Pods("").Namespaces() {
		sum := &trend.Amounts{}
		for _, p := range d.Cluster.Pods(namespace).List() {
			owners = d.Cluster.Owners().Chain(owners[:0], p)
			w, counts := d.countsFor(p, owners)
			one := d.savingsOf(p, w, s.table, need)
			now.Add(&one)
			now.count(p, before)
			if !now.collected || one.Pods == 0 {
				continue
			}
			amounts := one.trend()
			sum.Add(&amounts, 1)
			if !counts {
				continue
			}
			of := trend.Subject{Namespace: namespace, Kind: w.Kind, Name: w.Name}
			if have[of] == nil {
				have[of] = &trend.Amounts{}
			}
			have[of].Add(&amounts, 1)
		}
		if sum.Pods > 0 {
			have[trend.Subject{Namespace: namespace}] = sum
		}
	}
	if before != nil && before.collected && now.collected { // Otherwise, nobody knows what pods had until now.
		lasted := min(now.at.Sub(before.at), 2*cmp.Or(d.Interval, interval))
		have[trend.Subject{}] = d.cluster(have)
		for _, amounts := range have {
			switch {
			case amounts.Pods == 0:
			case s.table.Prices != nil:
				amounts.Priced = 1
			default:
				amounts.Unpriced = 1
			}
		}
		for to, of := range map[*trend.Resources]recommend.Amounts{
			&now.counted.authored: now.Authored, &now.counted.requested: now.Requested, &now.counted.measured: now.Measured, &now.counted.used: now.Used,
		} {
			to.CPU, to.Memory = to.CPU+float64(of.CPU)*lasted.Seconds(), to.Memory+float64(of.Memory)*lasted.Seconds()
		}
		d.store.CountTrends(now.at, lasted, have)
	}
	d.account.Store(now)
}

// cluster returns what the whole cluster has, given what its namespaces have.
func (d *Demands) cluster(have map[trend.Subject]*trend.Amounts) *trend.Amounts {
	all := &trend.Amounts{}
	for of, amounts := range have {
		if of.Kind == "" {
			all.Add(amounts, 1)
		}
	}
	for _, of := range d.Cluster.Nodes() {
		has := node.Allocatable(of)
		all.Nodes, all.Allocatable.CPU, all.Allocatable.Memory = all.Nodes+1, all.Allocatable.CPU+float64(has.CPU), all.Allocatable.Memory+float64(has.Memory)
	}
	return all
}

// trend returns the savings as they are counted over time.
func (s *Savings) trend() trend.Amounts {
	as := func(a recommend.Amounts) trend.Resources {
		return trend.Resources{CPU: float64(a.CPU), Memory: float64(a.Memory)}
	}
	return trend.Amounts{
		Pods: float64(s.Pods), Authored: as(s.Authored), Saved: as(s.Saved), Used: as(s.Used),
		Unmeasured:   as(recommend.Amounts{CPU: s.Requested.CPU - s.Measured.CPU, Memory: s.Requested.Memory - s.Measured.Memory}),
		AuthoredCost: s.AuthoredCost, SavedCost: s.AuthoredCost - s.RequestedCost,
	}
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
