package demand

import (
	"maps"
	"slices"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/headroom"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/neighbors"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// Neighbors knows what the pods of each node share.
func (d *Demands) Neighbors() *neighbors.Neighbors { return d.neighbors }

// workloadNamed names the workload of the pod of a snapshot.
func (d *Demands) workloadNamed(s *plan.Snapshot) string {
	w, _ := d.countsFor(s.Pod, s.Workloads)
	return w.Namespace + "/" + w.Kind + "/" + w.Name
}

// share publishes what the pods of each node share if the containers of any may.
func (d *Demands) share(s *survey) {
	in, known := d.Cluster.Rules()
	switch {
	case !anyShares(s.table):
		d.neighbors.Forget()
	case known && d.needs.Load() != nil:
		d.neighbors.Publish(in)
	}
}

// anyShares reports whether the containers of any pod may share.
func anyShares(table *ratios.Table) bool {
	return slices.ContainsFunc(table.Profiles(), func(p *ratios.Profile) bool { return p.Demand.Policy == policy.SharedPolicy })
}

// Share implements need.Demand.
func (p *podNeeds) Share(nodeType string) (shares [2]float64, known bool) {
	switch {
	case nodeType != "":
		return p.demands.neighbors.Expected(nodeType)
	case p.assumes != nil:
		if share := p.demands.assumeShare(p.of.Node(), p.assumes.known); share != nil {
			return share.Of, true
		}
		return shares, false
	}
	if share := p.demands.neighbors.Of(p.of.Node()); share != nil {
		return share.Of, true
	}
	return shares, false
}

// assumeShare returns what the pods of a node would share; nil if that is not known.
func (d *Demands) assumeShare(node string, by *assumed) *headroom.Share {
	by.mu.Lock()
	share := by.shares[node]
	by.mu.Unlock()
	if share != nil {
		return share
	}
	in, known := d.Cluster.Rules()
	if !known || d.needs.Load() == nil {
		return nil
	}
	in.Table = by.table
	if share = d.neighbors.Assume(node, in); share != nil { // It asks what each pod needs.
		by.mu.Lock()
		defer by.mu.Unlock()
		by.shares[node] = share
	}
	return share
}

// WouldShare returns what the pods of a node would share if all rules applied usage; nil if that is not known, or if none lets
// pods share.
func (d *Demands) WouldShare(node string) *headroom.Share {
	table := d.Applied()
	if table == nil {
		return nil
	}
	return d.assumeShare(node, d.under(table))
}

// peaks are the shares of containers that get their peaks.
var peaks = neighbors.Shares{1, 1}

// sharesOn returns the shares that the pods of a workload under a rule get on a node. If they are resized by usage, these are its shares; if only
// new pods are sized, what these can expect there; and otherwise what they would get if all rules applied usage. Where that is
// not known, or nobody shares, containers get their peaks.
func (d *Demands) sharesOn(node string, w *facts, rule *plan.Ruling) neighbors.Shares {
	var share *headroom.Share
	switch mode := rule.Usage(); {
	case w.applies(mode == policy.Apply):
		share = d.neighbors.Of(node)
	case w.applies(mode != policy.Observe):
		if expected, known := d.neighbors.Expected(rule.NodeType); known {
			return expected
		}
	default:
		share = d.WouldShare(node)
	}
	shares := peaks
	for i := range shares {
		if share != nil && share.Rests[i] > 0 {
			shares[i] = share.Of[i]
		}
	}
	return shares
}

// sharesOf returns the shares of a pod of a workload; peaks if nothing is shared.
func (d *Demands) sharesOf(p *pod.Pod, w *facts, rule *plan.Ruling) neighbors.Shares {
	if w == nil || len(w.on) == 0 {
		return peaks
	}
	return d.sharesOn(p.Node(), w, rule)
}

// meanShares returns the mean of the shares of the pods of a workload, given a rule; peaks without pods.
func (d *Demands) meanShares(w *facts, rule *ratios.Profile) neighbors.Shares {
	if w == nil || len(w.on) == 0 {
		return peaks
	}
	var sum neighbors.Shares
	pods := 0
	for _, name := range slices.Sorted(maps.Keys(w.on)) { // Sums of fractions depend on their order.
		ruling, n := d.Planner.RuleBy(rule, d.Cluster.NodeNamed(name), ""), w.on[name]
		for i, share := range d.sharesOn(name, w, &ruling) {
			sum[i] += share * float64(n)
		}
		pods += n
	}
	for i := range sum {
		sum[i] = min(1, sum[i]/float64(pods))
	}
	return sum
}

// known returns what planners know of a container if usage sizes it. A resource that was not measured needs its target, too.
func (s *survey) known(key usage.Key, r *recommend.Recommendation) need.Container {
	o := s.options(key.Container).Recommend
	needs := o.Need(r)
	if r.MemoryUnknown {
		needs.Memory.Target = r.Target.Memory
	}
	return needs
}

// as returns a recommendation for a container as users see it, whether usage is applied or not, what planners then know, and the
// mean of the shares of its pods. Of a resource that is shared, the target is what its pods get on average.
func (d *Demands) as(s *survey, key usage.Key, r recommend.Recommendation) (recommend.Recommendation, *need.Container, neighbors.Shares) {
	needs, shares := s.known(key, &r), peaks
	if needs.CPU.Steady > 0 || needs.Memory.Steady > 0 {
		shares = d.meanShares(s.workloads[ownerOf(key.Container)], s.profile(key.Ratios))
	}
	show := func(m *sizing.Measure, target, lower, upper, uncapped *int64) {
		n := need.Need{Recommended: needs.Of(m), Share: shares[m.Index]}
		if _, shares := n.Shared(false); shares {
			*target, *lower, *upper = n.Wanted(false), n.Recommended.Lower, n.Recommended.Upper
			*uncapped = *target
		}
	}
	show(sizing.CPU, &r.Target.CPU, &r.Lower.CPU, &r.Upper.CPU, &r.Uncapped.CPU)
	show(sizing.Memory, &r.Target.Memory, &r.Lower.Memory, &r.Upper.Memory, &r.Uncapped.Memory)
	return r, &needs, shares
}
