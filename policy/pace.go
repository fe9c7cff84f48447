package policy

import "cmp"

// Pace is how quickly pods are resized that can wait. It has no part in the sizes. Values that are nil
// are not set.
type Pace struct {
	// ResizesPerSecond is how many of these pods are resized per second; 0 means no limit. If it is
	// not set, the program decides.
	ResizesPerSecond *float64
	// FreedPerHour is how much their resizes may free within an hour, as a share of what all nodes have
	// for pods: at most 1, and 0 means no limit. If it is not set, DefaultFreedPerHour applies.
	FreedPerHour *float64
}

// DefaultFreedPerHour leaves time to notice a wrong ratio before autoscalers have removed the nodes that
// the pods need again.
const DefaultFreedPerHour = 0.25

// over returns the pace with what it does not set from another.
func (p Pace) over(other Pace) Pace {
	return Pace{cmp.Or(p.ResizesPerSecond, other.ResizesPerSecond), cmp.Or(p.FreedPerHour, other.FreedPerHour)}
}

// Rates returns both values. perSecond applies if ResizesPerSecond is not set.
func (p Pace) Rates(perSecond float64) (resizesPerSecond, freedPerHour float64) {
	freedPerHour = DefaultFreedPerHour
	set(&perSecond, p.ResizesPerSecond)
	set(&freedPerHour, p.FreedPerHour)
	return perSecond, freedPerHour
}
