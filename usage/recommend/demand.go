package recommend

import (
	"math"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/histogram"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// Speed is how fast a node type is, relative to the baseline: 1.25 does a quarter more work per
// core.
type Speed struct{ CPU, Memory float64 }

// Speeds returns the speed of a node type, and whether it is known.
type Speeds func(nodeType string) (Speed, bool)

// Uniform are the speeds of nodes that are all alike.
func Uniform(string) (Speed, bool) { return Speed{CPU: 1, Memory: 1}, true }

// Demand is what a container used on all node types, in baseline units.
type Demand struct {
	// CPU has cores, Pressed cores with the time that the container waited for them, and
	// Memory bytes.
	CPU, Pressed, Memory []histogram.Part
	// First, Last and Samples count CPU samples only.
	First, Last time.Time
	Samples     int
	// CPUKnown, MemoryKnown and PeaksKnown say how much is known of each resource, and of the
	// peaks of memory.
	CPUKnown, MemoryKnown, PeaksKnown history.Known
	// Since is when the version began that the pods were created from; zero if no version before it is known.
	Since time.Time
	// Throttled is the largest share of throttled samples on any node type.
	Throttled float64
	// Unknown has node types whose history does not count because their speed is unknown.
	Unknown []string

	types  []history.TypeView
	speeds []Speed
}

// NewDemand converts a history to baseline units.
func NewDemand(v history.View, speeds Speeds) Demand {
	d := Demand{Since: v.Version.Since}
	for _, t := range v.Types {
		speed, known := speeds(t.NodeType)
		if !known || !speed.valid() {
			d.Unknown = append(d.Unknown, t.NodeType)
			continue
		}
		d.types, d.speeds = append(d.types, t), append(d.speeds, speed)
		d.CPU = append(d.CPU, histogram.Part{Histogram: t.CPU, Factor: speed.CPU})
		d.Pressed = append(d.Pressed, histogram.Part{Histogram: t.Pressed, Factor: speed.CPU})
		d.Memory = append(d.Memory, histogram.Part{Histogram: t.Memory, Factor: speed.Memory})
		if d.First.IsZero() || !t.First.IsZero() && t.First.Before(d.First) {
			d.First = t.First
		}
		if t.Last.After(d.Last) {
			d.Last = t.Last
		}
		d.Samples += t.Samples
		d.Throttled = max(d.Throttled, t.Throttled)
	}
	// History that does not count proves nothing about the rest.
	d.CPUKnown, d.MemoryKnown, d.PeaksKnown = v.Known(d.types)
	return d
}

// valid reports whether usage can be divided by the speed.
func (s Speed) valid() bool {
	ok := func(x float64) bool { return x > 0 && !math.IsInf(x, 0) }
	return ok(s.CPU) && ok(s.Memory)
}

// peak returns the highest usage of a resource a week before the hour of at, in cores or bytes.
func (d *Demand) peak(resource history.Resource, at time.Time) (usage float64, known bool) {
	for i := range d.types {
		amount, ok := d.types[i].Peak(resource, at)
		if !ok {
			continue
		}
		known = true
		if resource == history.CPU {
			usage = max(usage, float64(amount)/1000*d.speeds[i].CPU)
		} else {
			usage = max(usage, float64(amount)*d.speeds[i].Memory)
		}
	}
	return usage, known
}

// confidence says how much history there is: 1 for one sample a minute over the given time.
func (d *Demand) confidence(interval time.Duration) float64 {
	lifespan := float64(d.Last.Sub(d.First)) / float64(interval)
	samples := float64(d.Samples) / interval.Minutes()
	return math.Min(lifespan, samples)
}
