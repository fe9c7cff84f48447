package policy

import (
	"maps"
	"slices"

	"github.com/workload-resizer/workload-resizer/internal/reader"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Check adds faults between the values of a section at a path. The globals have what the section does not
// set: a fault between these alone is not the section's.
func Check(f *reader.Reader, path string, own, globals *keys.Partial[Settings]) {
	if path != "" {
		path += "."
	}
	all := own.Over(*globals)
	values := all.Complete()
	for _, r := range [...]struct {
		name     string
		resource *keys.Resource
		bounds   func(*Bounds) *sizing.Range
		demand   *ResourceDemand
	}{
		{"cpu", &keys.CPU, func(b *Bounds) *sizing.Range { return &b.CPU }, &values.Demand.CPU},
		{"memory", &keys.Memory, func(b *Bounds) *sizing.Range { return &b.Memory }, &values.Demand.Memory},
	} {
		least, most := owner(own, "bounds."+r.name+".min"), owner(own, "bounds."+r.name+".max")
		if b := r.bounds(&values.Bounds); !b.Valid() && least+most != global+global {
			f.Fault(path+"bounds."+r.name, "%smin %s > %smax %s", least, r.resource.Text(b.Min), most, r.resource.Text(b.Max))
		}
		at := "demand." + r.name
		bounded := own.Sets(at+".min", at+".max")
		if b := r.demand.Bounds; bounded && !b.Valid() {
			f.Fault(path+at, "min %s > max %s", r.resource.Text(b.Min), r.resource.Text(b.Max))
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(values.Demand.Containers)) {
			container, bounds := own.Values.Demand.Containers[name], values.Demand.BoundsOf(name)
			if b := r.bounds(&bounds); !b.Valid() && (bounded || container.Sets(r.name)) {
				f.Fault(reader.Join(path+"demand.containers", name)+"."+r.name, "min %s > max %s, with the bounds of all containers", r.resource.Text(b.Min), r.resource.Text(b.Max))
			}
		}
	}
	// A pod that stays not ready must be noticed while it is observed.
	if g := &values.Guard; own.Sets("guard.window", "guard.unready") && g.Unready >= g.Window {
		f.Fault(path+"guard", "unready %s is not shorter than window %s: set both", keys.DurationText(g.Unready), keys.DurationText(g.Window))
	}
	if s := &values.Startup; own.Sets("startup.afterReady", "startup.atMost") && s.AfterReady >= s.AtMost {
		f.Fault(path+"startup", "afterReady %s is not shorter than atMost %s, which ends every boost: set both", keys.DurationText(s.AfterReady), keys.DurationText(s.AtMost))
	}
	if w := &values.Work; own.Sets("work.prometheus", "work.query") && (w.Prometheus == "") != (w.Query == "") {
		f.Fault(path+"work", "prometheus and query must both be set, here or for all pods")
	}
	if path != "" && own.Sets("startup") && !all.Sets("startup.cpu", "startup.cpuLimit") {
		f.Fault(path+"startup", "cpu or cpuLimit must be set, here or for all pods: without them, nothing is boosted")
	}
	if path != "" && own.Sets("eviction.maxPerHour") {
		f.Fault(path+"eviction.maxPerHour", "applies to all pods, so that no rule can set it")
	}
}

// CheckCluster adds faults between the values of what is set for the cluster as a whole.
func CheckCluster(f *reader.Reader, of *keys.Partial[Cluster]) {
	values := of.Complete()
	if o := &values.Overload; o.Enabled && max(o.CPU, o.Memory, o.Pressure, o.Load) == 0 {
		f.Fault("overload", "enabled, but cpu, memory, pressure and load are all 0, so that no node can get the taint: set one of them above 0, or set enabled to false")
	}
}

// global describes a value that is not set in the section itself.
const global = "global "

// owner returns global if the section does not set a key; otherwise "".
func owner(own *keys.Partial[Settings], key string) string {
	if own.Sets(key) {
		return ""
	}
	return global
}
