package vpa

import (
	"cmp"
	"time"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Policy is what the tenant of a workload says about the sizes of its containers, in a VerticalPodAutoscaler that names
// Recommender. It is immutable.
type Policy struct {
	// Fault is why it counts for nothing; nil if it counts.
	Fault *Fault
	// Mode is policy.Observe or policy.Apply.
	Mode string
	// Containers are the policies for containers.
	Containers []Container
	// QuickKill is how soon after its start a kill corrects the size of a container; 0 if the object does not say.
	QuickKill time.Duration
	// Ignored are the fields that are set and have no effect, in alphabetical order.
	Ignored []string
}

// Fault is why an object counts for nothing.
type Fault struct{ Reason, Message string }

// The reasons of faults, as the condition ConfigUnsupported has them.
const (
	// NotOff: the updater of the VerticalPodAutoscaler would follow the recommendation, too.
	NotOff = "UpdateModeNotOff"
	// Boosts: the updater acts on an object with a startupBoost even if its mode is Off.
	Boosts = "StartupBoost"
	// SeveralRecommenders: they would overwrite each other's recommendations.
	SeveralRecommenders = "SeveralRecommenders"
	// UnknownMode: the annotation with the mode has an unknown value.
	UnknownMode = "UnknownMode"
	// InvalidPolicy: a policy for a container contradicts itself, or cannot be read.
	InvalidPolicy = "InvalidPolicy"
	// SeveralObjects: another object has the same pods.
	SeveralObjects = "SeveralObjects"
)

// Container is the policy for a container.
type Container struct {
	// Name is the name of the container, or "*" for those without a policy of their own.
	Name string
	// Off means that its sizes do not follow usage.
	Off bool
	// CPU and Memory say which resources follow usage, and in which bounds.
	CPU, Memory Resource
	// Limit is what happens to limits, as in policy.DemandLimits; empty if the object does not say.
	Limit string
	// OOMBump and OOMMinBump are how much more than its usage a killed container gets, at least; 0 if the object
	// does not say.
	OOMBump    float64
	OOMMinBump int64
}

// Resource is the policy for a resource of a container.
type Resource struct {
	// Left means that it does not follow usage.
	Left   bool
	Bounds sizing.Range
}

// Applies reports whether pods are resized by what they were seen to need.
func (p *Policy) Applies() bool { return p.Mode == policy.Apply }

// Of returns the policy for a container.
func (p *Policy) Of(container string) Container {
	return safety.PolicyFor(container, p.Containers, func(c *Container) string { return c.Name })
}

// Follows reports whether a resource of the container follows usage.
func (c *Container) Follows(m *sizing.Measure) bool {
	if m == sizing.CPU {
		return !c.Off && !c.CPU.Left
	}
	return !c.Off && !c.Memory.Left
}

// Over returns a demand as the object changes it for a container. The bounds of the demand are the administrator's, and
// those of the object only count within them.
func (p *Policy) Over(d *policy.Demand, container string) *policy.Demand {
	own, c, bounds := *d, p.Of(container), d.BoundsOf(container)
	own.From, own.Mode, own.Containers = policy.FromUsage, p.Mode, nil
	own.CPU.Bounds, own.Memory.Bounds = within(c.CPU.Bounds, bounds.CPU), within(c.Memory.Bounds, bounds.Memory)
	own.CPU.Limit, own.Memory.Limit = cmp.Or(c.Limit, own.CPU.Limit), cmp.Or(c.Limit, own.Memory.Limit)
	return &own
}

// within returns the part of a range that is in another one, or the nearest value of that.
func within(own, all sizing.Range) sizing.Range {
	if own.Max == 0 {
		own.Max = all.Max
	}
	clamp := func(v int64) int64 {
		v = max(v, all.Min)
		if all.Max > 0 {
			v = min(v, all.Max)
		}
		return v
	}
	own.Min = clamp(own.Min)
	if own.Max > 0 {
		own.Max = clamp(own.Max)
	}
	return own
}
