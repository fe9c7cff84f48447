package guard

import (
	"fmt"
	"strings"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Value is a measurement. The zero value is not known.
type Value struct {
	N     float64
	Known bool
}

// Of returns a known value.
func Of(n float64) Value { return Value{n, true} }

// Max returns the larger of the values that are known.
func (v Value) Max(o Value) Value {
	if o.Known && (!v.Known || o.N > v.N) {
		return o
	}
	return v
}

// Strain is how a container fared in some time.
type Strain struct {
	// Throttled is the highest share of the periods of the CPU limit in which it was throttled.
	// CPUPressure and MemoryPressure are the highest shares of the time in which a task waited.
	Throttled, CPUPressure, MemoryPressure Value
	// Memory is the highest working set, and Charged the most memory that was charged to it, with the page cache, in
	// bytes. Nothing is judged by the latter.
	Memory, Charged Value
	// LimitEvents is at least 1 if it reached its memory limit or memory.high.
	LimitEvents Value
}

// Max returns the highest values of both.
func (s Strain) Max(o *Strain) Strain {
	return Strain{
		s.Throttled.Max(o.Throttled), s.CPUPressure.Max(o.CPUPressure), s.MemoryPressure.Max(o.MemoryPressure), s.Memory.Max(o.Memory),
		s.Charged.Max(o.Charged), s.LimitEvents.Max(o.LimitEvents),
	}
}

// Or returns the values that are known, and those of another time in place of the others.
func (s Strain) Or(o *Strain) Strain {
	or := func(v, other Value) Value {
		if v.Known {
			return v
		}
		return other
	}
	return Strain{
		or(s.Throttled, o.Throttled), or(s.CPUPressure, o.CPUPressure), or(s.MemoryPressure, o.MemoryPressure), or(s.Memory, o.Memory),
		or(s.Charged, o.Charged), or(s.LimitEvents, o.LimitEvents),
	}
}

// Fared is how a container fared before the resize of its pod, and since then.
type Fared struct{ Before, Since Strain }

// Signals are what sources of usage show of the containers of a pod.
type Signals struct {
	// Of returns how a container fared; nil if nothing is known of any.
	Of func(container string) Fared
	// Unknown is why nothing is known of any; empty without a cluster.
	Unknown string
	// Objectives are what the queries of the pod's objectives said.
	Objectives []Answer
}

// fared returns how the container of a change fared.
func (c *Case) fared(change *Change) (f Fared) {
	if c.Signals.Of != nil {
		f = c.Signals.Of(c.Pod.Containers[change.Index].Name())
	}
	return f
}

// worsened is how many times the value before a resize makes a pod worse, if it is also above the
// threshold: values vary without a resize, too.
const worsened = 1.5

// worse reports whether a share has risen above a threshold since the resize. A share that was as high
// before has not, nor has one that is not known.
func worse(before, since Value, threshold float64) bool {
	return before.Known && since.Known && since.N > threshold && since.N >= worsened*before.N
}

// percent returns a share as a percentage.
func percent(share float64) string { return fmt.Sprintf("%.0f%%", share*100) }

// Unmeasured returns what is not known of how an observed pod fares, with the reason; empty if everything is
// known. Unknown values are no reason to revert anything.
func Unmeasured(c *Case) string {
	missing := map[string][]string{}
	why := []string{"no source of usage shows it", "it has not been measured since the resize", "it was not measured before the resize"}
	if c.Signals.Of == nil {
		if c.Signals.Unknown == "" {
			return "" // There is no cluster.
		}
		why = []string{c.Signals.Unknown}
	}
	lowers := false
	for _, change := range Changes(c.Pod, c.Settings.Window) {
		if !change.Lowers() || change.waits(c.Pod) {
			continue
		}
		lowers = true
		fared := c.fared(&change)
		for _, look := range signals {
			if look.measure != change.Measure || change.Unboosts || look.threshold(c) >= 1 || look.limit && !lowersLimit(change.From, change.To) {
				continue
			}
			before, since := look.of(&fared.Before).Known, look.of(&fared.Since).Known
			of := ""
			switch {
			case since && (before || look.alone):
				continue
			case c.Signals.Of == nil || !before && !since:
				of = why[0]
			case before:
				of = why[1]
			default:
				of = why[2]
			}
			missing[of] = append(missing[of], look.name+" of container "+c.Pod.Containers[change.Index].Name())
		}
	}
	var texts []string
	for _, of := range why {
		if len(missing[of]) > 0 {
			texts = append(texts, strings.Join(missing[of], ", ")+" ("+of+")")
		}
	}
	if lowers {
		texts = append(texts, c.unknownObjectives()...)
	}
	return strings.Join(texts, "; ")
}

// signals are the values that the looks at signals need.
var signals = []struct {
	name    string
	measure *sizing.Measure
	// limit means that it counts only if the resize lowered the limit.
	limit bool
	// alone means that the value before the resize is not necessary.
	alone     bool
	threshold func(*Case) float64
	of        func(*Strain) Value
}{
	{"throttling", sizing.CPU, true, false, func(c *Case) float64 { return c.Settings.Throttling }, func(s *Strain) Value { return s.Throttled }},
	{"pressure of cpu", sizing.CPU, false, false, func(c *Case) float64 { return c.Settings.CPUPressure }, func(s *Strain) Value { return s.CPUPressure }},
	{"pressure of memory", sizing.Memory, false, false, func(c *Case) float64 { return c.Settings.MemoryPressure }, func(s *Strain) Value { return s.MemoryPressure }},
	{"use of memory", sizing.Memory, true, true, func(c *Case) float64 { return c.Settings.MemoryUse }, func(s *Strain) Value { return s.Memory }},
}
