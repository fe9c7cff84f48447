package need

import "time"

// Rules are when and how the size of a pod follows a recommendation.
type Rules struct {
	Updates Updates
	Limits  Limits
	// MaxGrowth is how many times what its author wrote a container gets at most; 0 means any amount. A container that
	// leaks must not get ever more.
	MaxGrowth float64
}

// Updates are when a pod's size follows the recommendation.
type Updates struct {
	// Band is the relative difference from which a request is corrected, or the sum of both
	// unless they are Separate, and After how long after the last resize. A request outside of
	// the bounds is corrected immediately. A limit that follows the peak is raised from a
	// difference of Band, too.
	Band  float64
	After time.Duration
	// QuickKill is how soon after its start a kill corrects the size of a pod whose request is
	// within the bounds.
	QuickKill time.Duration
	// DecreaseCPU and DecreaseMemory are the least times between a resize of the resource and
	// its next decrease.
	DecreaseCPU, DecreaseMemory time.Duration
	// DecreaseLimit is the least time between a change to memory and the next decrease of its limit, if
	// that is a multiple of the request or of the peak: the limit prevents kills, and reserves nothing.
	DecreaseLimit time.Duration
	// Separate decides on CPU and memory separately. Otherwise, both follow if one must.
	Separate bool
	// AnyKill corrects the size after any kill, not only after a quick one.
	AnyKill bool
	// InUse raises the memory request to what the pod uses, up to the maximum, and never lowers
	// it below.
	InUse bool
}
