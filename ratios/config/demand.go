package config

import (
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/workload-resizer/workload-resizer/internal/reader"
	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// readDemand reads where demand comes from, and the options of the recommender.
func readDemand(d *policy.Demand) func(reader.Value) {
	return func(v reader.Value) {
		v.Fields(reader.Known{
			"from":        oneOf(&d.From, policy.DemandSources),
			"mode":        mode(&d.Mode),
			"policy":      oneOf(&d.Policy, policy.DemandPolicies),
			"margin":      optional(&d.Margin, "must be a number from 0 to 10, such as 0.15", within(0, 10)),
			"cpu":         readCPUDemand(&d.CPU),
			"memory":      readMemoryDemand(&d.Memory),
			"minHistory":  duration(&d.MinHistory, 0, 31*day),
			"minCoverage": optional(&d.MinCoverage, "must be a number from 0 to 1, such as 0.5", within(0, 1)),
			"window":      duration(&d.Window, time.Minute, 7*day),
			"windows":     count(&d.Windows, 31, 8),
			"oomBump":     optional(&d.OOMBump, "must be a number from 1 to 10, such as 1.2", within(1, 10)),
			"oomMinBump":  amount(&d.OOMMinBump, 0, memoryBound),
			"containers":  readContainers(&d.Containers),
		})
	}
}

func within(least, most float64) func(float64) bool {
	return func(f float64) bool { return f >= least && f <= most }
}

// mode reads a mode. Those that resize do not exist yet.
func mode(into *string) func(reader.Value) {
	return func(v reader.Value) {
		switch text, _ := v.Text(); text {
		case policy.Observe:
			*into = text
		case policy.Initial, policy.Apply:
			v.Fault("%s does not exist yet: this version only observes; use %s", text, policy.Observe)
		default:
			v.Fault("must be %s, not %s", policy.Observe, v)
		}
	}
}

func readCPUDemand(d *policy.ResourceDemand) func(reader.Value) {
	return readResource(d, cpuBound, []string{"follow", "keep", "none"}, reader.Known{"wholeCores": flag(&d.Whole)})
}

func readMemoryDemand(d *policy.ResourceDemand) func(reader.Value) {
	return readResource(d, memoryBound, []string{"follow", "keep", "multiple"}, reader.Known{
		"neverLower": flag(&d.Keep),
		"multiple":   optional(&d.Multiple, "must be a number from 1 to 100, such as 2", within(1, 100)),
		"headroom":   amount(&d.Headroom, 0, memoryBound),
	})
}

// readResource reads the options of one resource, and its own keys.
func readResource(d *policy.ResourceDemand, of sensible, limits []string, own reader.Known) func(reader.Value) {
	return func(v reader.Value) {
		const must = "must be a number above 0 and at most 1, such as 0.9"
		percentile := func(f float64) bool { return f > 0 && f <= 1 }
		var bounds ends
		keys := reader.Known{
			"target":     optional(&d.Target, must, percentile),
			"lower":      optional(&d.Lower, must, percentile),
			"upper":      optional(&d.Upper, must, percentile),
			"floor":      amount(&d.Floor, 0, of),
			"min":        bound(&bounds.min, 0, of),
			"max":        bound(&bounds.max, 1, of),
			"roundTo":    amount(&d.RoundTo, 1, of),
			"halfLife":   duration(&d.HalfLife, time.Minute, 31*day),
			"confidence": duration(&d.Confidence, time.Minute, 31*day),
			"limit":      oneOf(&d.Limit, limits),
		}
		for name, read := range own {
			keys[name] = read
		}
		v.Fields(keys)
		d.Bounds = bounds.override(of.amount)
	}
}

// readContainers reads the bounds of containers by name.
func readContainers(into *map[string]policy.BoundsOverride) func(reader.Value) {
	return func(v reader.Value) {
		*into = map[string]policy.BoundsOverride{}
		v.Each(func(name string, v reader.Value) {
			syntax(validation.IsDNS1123Label).key(v, name)
			var cpu, memory ends
			v.Fields(reader.Known{"cpu": cpu.read(cpuBound), "memory": memory.read(memoryBound)})
			(*into)[name] = policy.BoundsOverride{CPU: cpu.override(cpuBound.amount), Memory: memory.override(memoryBound.amount)}
		})
	}
}

// amount reads a quantity whose sign is at least leastSign.
func amount(into **int64, leastSign int, of sensible) func(reader.Value) {
	of.omitted = "the default"
	return func(v reader.Value) {
		var q *resource.Quantity
		if bound(&q, leastSign, of)(v); q != nil {
			n := of.amount(q)
			*into = &n
		}
	}
}

// checkDemand adds faults between the values of a demand. all has those of the globals, too: a fault
// between these alone is not the rule's.
func checkDemand(f *reader.Faults, path string, own, all *policy.Demand) {
	for _, r := range []struct {
		name     string
		own, all *policy.ResourceDemand
		of       func(*policy.BoundsOverride) *policy.RangeOverride
		text     func(int64) string
	}{
		{"cpu", &own.CPU, &all.CPU, func(b *policy.BoundsOverride) *policy.RangeOverride { return &b.CPU }, sizing.CPUText},
		{"memory", &own.Memory, &all.Memory, func(b *policy.BoundsOverride) *policy.RangeOverride { return &b.Memory }, sizing.MemoryText},
	} {
		at := path + "." + r.name
		if r.own.Lower != nil || r.own.Target != nil {
			checkOrder(f, at, "lower", "target", r.all.Lower, r.all.Target, defaultLower, defaultTarget)
		}
		if r.own.Target != nil || r.own.Upper != nil {
			checkOrder(f, at, "target", "upper", r.all.Target, r.all.Upper, defaultTarget, defaultUpper)
		}
		global := r.own.Bounds == policy.RangeOverride{}
		if !global && empty(r.all.Bounds) {
			f.Add(at, "min %s > max %s", r.text(*r.all.Bounds.Min), r.text(*r.all.Bounds.Max))
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(all.Containers)) {
			container, bounds := own.Containers[name], all.BoundsOf(name)
			if of := r.of(&bounds); empty(*of) && (!global || *r.of(&container) != policy.RangeOverride{}) {
				f.Add(reader.Join(path+".containers", name)+"."+r.name, "min %s > max %s, with the bounds of all containers", r.text(*of.Min), r.text(*of.Max))
			}
		}
	}
}

// empty reports whether no amount is within bounds.
func empty(r policy.RangeOverride) bool { return r.Min != nil && r.Max != nil && *r.Min > *r.Max }

// The percentiles that apply where the configuration sets none.
const (
	defaultLower  = 0.5
	defaultTarget = 0.9
	defaultUpper  = 0.95
)

// checkOrder adds a fault if the first of two percentiles is above the second.
func checkOrder(f *reader.Faults, path, low, high string, a, b *float64, defaultA, defaultB float64) {
	if a == nil {
		a = &defaultA
	}
	if b == nil {
		b = &defaultB
	}
	if *a > *b {
		f.Add(path, "%s %v is above %s %v: set both", low, *a, high, *b)
	}
}
