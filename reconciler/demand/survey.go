package demand

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/vpa"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// survey is what the pods in the cluster say about workloads. It is immutable.
type survey struct {
	table     *ratios.Table
	workloads map[usage.Workload]*facts
	policies  *policies
}

// facts are what the recommendations for a workload depend on.
type facts struct {
	// rules are the names of the rules that apply to its pods, in alphabetical order.
	rules []string
	// replicas means that several of its pods have the same controller. Those of a rolling update have two.
	replicas bool
	// seen is when it last had pods.
	seen time.Time
	// The newest pod decides how recommendations follow from usage. Of several that were created in the
	// same second, it is the one with the last UID, in whatever order they are looked at.
	newest     time.Time
	uid        types.UID
	rule       string
	demand     *policy.Demand
	guaranteed bool
	containers int
	// on is how many of its pods run on each node, if a rule lets them share.
	on map[string]int
	// policy says what the workload needs, in a VerticalPodAutoscaler; nil if none does. If any may, names are the
	// names of the containers; nil if these are not known.
	policy *vpa.Policy
	names  []string
	// aims are the targets of policies that it has, and pod is its newest one; nil once the policies are settled.
	aims []*aim
	pod  *pod.Pod
	// versions are what its pods were created from, and version is the newest of them.
	versions map[uint64]time.Time
	version  history.Version
}

// controller is what a pod of a workload was created by.
type controller struct {
	usage.Workload
	types.UID
}

// take looks at all pods. A workload without pods keeps the facts of the survey before while it has a
// history, or may get samples of its last pods.
func (d *Demands) take(table *ratios.Table, before *survey, now time.Time) *survey {
	s := &survey{table: table, workloads: make(map[usage.Workload]*facts, len(before.workloads)), policies: newPolicies(d.Cluster.Policies())}
	var owners []workload.Workload
	controllers, measured := map[controller]bool{}, map[usage.Workload]bool{}
	for _, c := range d.store.Containers() {
		measured[ownerOf(c)] = true
	}
	for _, p := range d.Cluster.Pods("").List() {
		owners = d.Cluster.Owners().Chain(owners[:0], p)
		w, ok := d.countsFor(p, owners)
		// A run may begin and end between two surveys, and there may be none for days.
		if !ok || p.Finished() && (!w.ByRuns() || !measured[w]) {
			continue
		}
		s.add(w, p, owners, now)
		if p.Finished() {
			continue
		}
		by := controller{w, p.Controller().UID}
		if controllers[by] {
			s.workloads[w].replicas = true
		}
		controllers[by] = true
	}
	for _, f := range s.workloads {
		f.version, f.versions = newest(f.versions), nil
	}
	for w, f := range before.workloads {
		if s.workloads[w] == nil && (measured[w] || now.Sub(f.seen) <= remembered) {
			f = f.in(table)
			f.aims = s.policies.add(nil, w.Namespace, []workload.Workload{{Kind: w.Kind, Name: w.Name}})
			s.workloads[w] = f
		}
	}
	s.policies.settle(s.workloads)
	return s
}

// add adds what a pod with these owners says about its workload.
func (s *survey) add(w usage.Workload, p *pod.Pod, owners []workload.Workload, now time.Time) {
	f := s.workloads[w]
	if f == nil {
		f = &facts{seen: now}
		s.workloads[w] = f
	}
	profile := s.table.Profile(p)
	if i, found := slices.BinarySearch(f.rules, profile.Name); !found {
		f.rules = slices.Insert(f.rules, i, profile.Name)
	}
	f.aims = s.policies.add(f.aims, p.Namespace(), owners)
	f.created(p)
	if profile.Demand.Policy == policy.SharedPolicy && runs(p) {
		if f.on == nil {
			f.on = map[string]int{}
		}
		f.on[p.Node()]++
	}
	if created := p.CreatedAt(); f.demand == nil || created.After(f.newest) || created.Equal(f.newest) && p.UID > f.uid {
		f.newest, f.uid, f.rule, f.demand = created, p.UID, profile.Name, &profile.Demand
		f.guaranteed, f.containers = p.QOSClass() == corev1.PodQOSGuaranteed, sharing(p)
		if s.policies != nil {
			f.pod = p
		}
	}
}

// sharing returns how many containers share the floor of a pod.
func sharing(p *pod.Pod) int {
	n := 0
	for i := range p.Containers {
		if c := &p.Containers[i]; !c.Init() || c.Sidecar() {
			n++
		}
	}
	return n
}

// in returns the facts under a table, whose rules may be others.
func (f *facts) in(table *ratios.Table) *facts {
	now := *f
	now.rules, now.demand, now.policy, now.on = nil, nil, nil, nil
	for _, profile := range table.Profiles() {
		if !slices.Contains(f.rules, profile.Name) {
			continue
		}
		now.rules = append(now.rules, profile.Name)
		if now.demand == nil || profile.Name == f.rule {
			now.rule, now.demand = profile.Name, &profile.Demand
		}
	}
	if now.demand == nil {
		globals := table.Profiles()[0]
		now.rules, now.rule, now.demand = []string{globals.Name}, globals.Name, &globals.Demand
	}
	slices.Sort(now.rules)
	return &now
}

// options returns the options of a container. Those of an unknown workload are the globals'.
func (s *survey) options(c history.Container) (o usage.Options) {
	w := ownerOf(c)
	switch f := s.workloads[w]; {
	case f != nil:
		o = f.options(c.Name)
	case s.table != nil:
		o = optionsOf(&s.table.Profiles()[0].Demand, c.Name, false, 1)
	default:
		o = optionsOf(&unconfigured, c.Name, false, 1)
	}
	o.Recommend.ByRuns = w.ByRuns()
	return o
}

// demand returns where the demand of a workload comes from, as configured.
func (s *survey) demand(c history.Container) *policy.Demand {
	if f := s.workloads[ownerOf(c)]; f != nil {
		return f.over(f.demand, c.Name)
	}
	return &s.table.Profiles()[0].Demand
}

// ratios returns the sets of ratios under which a container is recommended sizes: of the rules of its
// pods, or of those under which it was recommended sizes before, or else the globals.
func (s *survey) ratios(c history.Container, before []string) (sets []usage.Ratios) {
	rules := before
	if f := s.workloads[ownerOf(c)]; f != nil {
		rules = f.rules
	}
	for _, profile := range s.table.Profiles() {
		if slices.Contains(rules, profile.Name) {
			sets = append(sets, usage.Ratios{Name: profile.Name, Speeds: speeds(profile)})
		}
	}
	if sets == nil {
		globals := s.table.Profiles()[0]
		sets = []usage.Ratios{{Name: globals.Name, Speeds: speeds(globals)}}
	}
	return sets
}

// profile returns the profile of a rule; the globals' if there is none of that name.
func (s *survey) profile(rule string) *ratios.Profile {
	for _, profile := range s.table.Profiles() {
		if profile.Name == rule {
			return profile
		}
	}
	return s.table.Profiles()[0]
}

// speeds returns how fast node types are under a rule, relative to its baseline.
func speeds(profile *ratios.Profile) recommend.Speeds {
	return func(nodeType string) (recommend.Speed, bool) {
		e, known := profile.Lookup(nodeType)
		if !known || e.Unused != "" {
			return recommend.Speed{}, false
		}
		return recommend.Speed{CPU: 1 / e.CPUFactor.Float64(), Memory: 1 / e.MemoryFactor.Float64()}, true
	}
}

// ownerOf returns the workload of a container.
func ownerOf(c history.Container) usage.Workload {
	return usage.Workload{Namespace: c.Namespace, Kind: c.Kind, Name: c.Workload}
}

// workloadOf returns the workload that the usage of a pod counts for; false for a pod without one.
func (d *Demands) workloadOf(p *pod.Pod) (usage.Workload, bool) {
	return d.countsFor(p, d.Cluster.Owners().Chain(make([]workload.Workload, 0, 4), p))
}

// countsFor is workloadOf, given the owners of the pod, the narrowest first.
func (d *Demands) countsFor(p *pod.Pod, owners []workload.Workload) (usage.Workload, bool) {
	all := make([]usage.Owner, 0, 4)
	for _, w := range owners {
		all = append(all, usage.Owner{Kind: w.Kind, Name: w.Name})
	}
	job, _ := p.Label(d.JobLabelKey())
	return usage.WorkloadOf(p.Namespace(), all, job)
}

// JobLabelKey returns the key of the label that names the workload of Jobs without an owner.
func (d *Demands) JobLabelKey() string { return cmp.Or(d.JobLabel, DefaultJobLabel) }
