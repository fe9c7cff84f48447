package demand

import (
	"cmp"
	"fmt"
	"hash/fnv"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// needs are what the containers of workloads need whose sizes follow usage. They are immutable.
type needs map[usage.Key]*need.Container

// still is by which share of an amount a need may move before pods are planned again: sizes that differ by less stay
// anyway.
const still = 0.02

// needs returns what the containers need whose sizes follow recommendations when they are created, or later, and the
// workloads whose needs have moved, or are new or gone. A need that has not moved stays the same object, which costs nothing.
func (s *survey) needs(before needs, demands *usage.Table) (now needs, moved map[usage.Workload]bool) {
	now, moved = needs{}, map[usage.Workload]bool{}
	modes := s.ruleModes()
	for key, r := range demands.All() {
		s.need(key, &r, modes, before, now, moved)
	}
	for key := range before {
		if now[key] == nil {
			moved[ownerOf(key.Container)] = true
		}
	}
	return now, moved
}

// need adds what a container needs to the needs of now if the sizes of pods follow it when they are created, or later, and its
// workload to those that have moved if it has, and running pods follow it.
func (s *survey) need(key usage.Key, r *recommend.Recommendation, modes map[string]string, before, now needs, moved map[usage.Workload]bool) {
	f, mode := s.workloads[ownerOf(key.Container)], modes[key.Ratios]
	if !f.applies(mode != policy.Observe) {
		return
	}
	o := s.options(key.Container).Recommend
	to, was := o.Need(r), before[key]
	f.follow(key.Name, &to)
	if was != nil && *was.CPU.Rules == o.Rules && unmoved(&was.CPU, &to.CPU) && unmoved(&was.Memory, &to.Memory) {
		now[key] = withReasons(was, &to)
		return
	}
	revise(&to)
	now[key] = &to
	if f.applies(mode == policy.Apply) {
		moved[ownerOf(key.Container)] = true
	}
}

// ruleModes returns the mode of each rule.
func (s *survey) ruleModes() map[string]string {
	modes := map[string]string{}
	for _, profile := range s.table.Profiles() {
		modes[profile.Name] = profile.Usage()
	}
	return modes
}

// unmoved reports whether a recommendation says the same as before, as far as it matters for sizes.
func unmoved(was, is *need.Recommendation) bool {
	near := func(a, b int64) bool { return float64(max(a-b, b-a)) <= still*float64(a) }
	return near(was.Target, is.Target) && near(was.Lower, is.Lower) && near(was.Upper, is.Upper) && near(was.Max, is.Max) && near(was.Peak, is.Peak) && near(was.Steady, is.Steady) && near(was.Steady+was.Rest, is.Steady+is.Rest) && was.Unknown == is.Unknown &&
		near(was.Floor.Request, is.Floor.Request) && near(was.Floor.Limit, is.Floor.Limit) &&
		(was.Keeps == "") == (is.Keeps == "") && (was.KeepsLimit == "") == (is.KeepsLimit == "")
}

// revise gives both recommendations their revisions. Only what has moved has a new one, so that this costs what the few
// that have moved cost.
func revise(c *need.Container) {
	for _, r := range [...]*need.Recommendation{&c.CPU, &c.Memory} {
		h := fnv.New64a()
		_, _ = fmt.Fprintf(h, "%d %d %d %d %d %d %d %d %t %t %t %+v", r.Target, r.Lower, r.Upper, r.Max, r.Floor, r.Peak, r.Steady, r.Rest, r.Unknown, r.Keeps != "", r.KeepsLimit != "", *r.Rules) // It never fails.
		r.Revision = h.Sum64()
	}
}

// withReasons returns what was needed with the reasons of what is: how long something is known changes each hour.
func withReasons(was, is *need.Container) *need.Container {
	now := *was
	now.CPU.Keeps, now.CPU.KeepsLimit = is.CPU.Keeps, is.CPU.KeepsLimit
	now.Memory.Keeps, now.Memory.KeepsLimit = is.Memory.Keeps, is.Memory.KeepsLimit
	if now == *was {
		return was
	}
	return &now
}

// apply publishes what containers need, and queues the pods whose needs have moved. Nothing is known before the stored
// history was read.
func (d *Demands) apply(s *survey, demands *usage.Table) {
	if d.Keeper != nil && !d.Keeper.HasRead() {
		return
	}
	var before needs
	if p := d.needs.Load(); p != nil {
		before = *p
	}
	now, moved := s.needs(before, demands)
	for _, c := range demands.Fell(d.before) {
		moved[ownerOf(c)] = true // Its own peak kept a replica larger than others.
	}
	modes := s.modes()
	for _, all := range [...]map[usage.Workload]string{modes, d.modes} {
		for w := range all {
			if modes[w] != d.modes[w] {
				moved[w] = true // A pod that was sized keeps its size while nothing is known, but only if usage is applied.
			}
		}
	}
	d.before, d.modes = demands, modes
	d.put(now, moved)
}

// put makes needs those in effect, and queues the pods of the workloads whose needs have moved.
func (d *Demands) put(now needs, moved map[usage.Workload]bool) {
	d.needs.Store(&now)
	d.assumed.Store(nil)
	d.applied.Store(nil)
	namespaces := map[string]bool{}
	for w := range moved {
		namespaces[w.Namespace] = true
	}
	for namespace := range namespaces {
		for _, p := range d.Cluster.Pods(namespace).List() {
			if w, ok := d.workloadOf(p); ok && moved[w] {
				d.Cluster.Changed(p)
			}
		}
	}
}

// NeedsOf returns what the containers of a pod need according to usage, given the owners of the pod, the narrowest first.
// It is nil if the sizes of the pod do not follow usage. The table may be one that is not in effect. creating means that the
// pod is being created.
func (d *Demands) NeedsOf(of *pod.Pod, owners []workload.Workload, table *ratios.Table, creating bool) need.Demand {
	profile := table.Profile(of)
	byRule := profile.AppliesUsage() || creating && profile.Usage() == policy.Initial
	if !byRule && !d.Cluster.VPAPolicies {
		return nil
	}
	published := d.needs.Load()
	w, ok := d.countsFor(of, owners)
	switch {
	case (published == nil || !ok) && (byRule || d.Cluster.Tunes(of.Namespace(), owners)):
		return need.Unknown{}
	case published == nil || !ok || !d.survey.Load().workloads[w].applies(byRule):
		return nil
	}
	p := &podNeeds{demands: d, published: *published, of: of, owner: w, rule: profile.Name, creating: creating}
	if table != d.Ratios.Table() {
		p.assumes = &profileOf{profile, d.under(table)}
	}
	return p
}

// podNeeds is what usage says about one pod.
type podNeeds struct {
	demands   *Demands
	published needs
	of        *pod.Pod
	owner     usage.Workload
	rule      string
	creating  bool
	// assumes is the profile of the pod in a table that is not in effect; nil for the one that is.
	assumes *profileOf
}

// unknownUse is why memory is not lowered if nobody knows how much is in use, as when a source is silent.
const unknownUse = "how much memory the container uses now is not known"

// Of implements need.Demand, as do the other methods.
func (p *podNeeds) Of(container string) (needs *need.Container, now need.Memory) {
	key := usage.Key{Container: p.key(container), Ratios: p.rule}
	shown := p.published[key]
	if p.assumes != nil {
		shown = p.demands.assume(key, p.assumes)
	}
	now.Used, now.Charged = p.demands.signals.Memory(p.of, container, p.demands.Clock.Now())
	if shown == nil || now.Used != 0 || p.creating {
		return shown, now
	}
	kept := *shown
	kept.Memory.Keeps, kept.Memory.KeepsLimit = cmp.Or(kept.Memory.Keeps, unknownUse), cmp.Or(kept.Memory.KeepsLimit, unknownUse)
	return &kept, now
}

// Peak implements need.Demand.
func (p *podNeeds) Peak(container string) int64 {
	return p.demands.Table().Peak(p.key(container), string(p.of.UID))
}

// key returns the key of the history of a container.
func (p *podNeeds) key(container string) history.Container {
	return containerOf(p.owner, container)
}

// Resized implements need.Demand. Pods record only their last resize.
func (p *podNeeds) Resized(string) need.Resized { return need.Resized{} }
