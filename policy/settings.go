package policy

import (
	"slices"

	"github.com/workload-resizer/workload-resizer/policy/keys"
)

// Settings are what users set, for all pods or for those of a rule.
type Settings struct {
	// Bounds limit the requests of each container, for every node type.
	Bounds Bounds
	// Demand is where the demand of the pods comes from, and how it follows from usage.
	Demand Demand
	// Guard is when resizes of the pods are made, and how they are observed and reverted.
	Guard Guard
	// Startup is how much more cpu the pods get while they start.
	Startup Startup
	// Eviction is whether the pods may be moved to another node. It has no part in the sizes.
	Eviction Eviction
	// Work is what is known of the work that the pods do. It has no part in the sizes.
	Work Work
}

// Keys implements keys.Section.
func (s *Settings) Keys() []keys.Key {
	return slices.Concat(keys.Below("bounds", s.Bounds.Keys()...), keys.Below("demand", s.Demand.Keys()...), keys.Below("guard", s.Guard.Keys()...),
		keys.Below("startup", s.Startup.Keys()...), keys.Below("eviction", s.Eviction.Keys()...), keys.Below("work", s.Work.Keys()...))
}

// Cluster is what users set for the cluster as a whole. Rules cannot set it.
type Cluster struct {
	// Pace is how quickly pods are resized that can wait.
	Pace Pace
	// Prices are what nodes cost; nil if they are not set.
	Prices *Prices
	// Overload is when nodes have a taint because they are overloaded.
	Overload Overload
	// Production is how the ratios are used that production shows.
	Production Production
}

// Keys implements keys.Section.
func (c *Cluster) Keys() []keys.Key {
	return slices.Concat(keys.Below("pace", c.Pace.Keys()...), []keys.Key{keys.Of("prices", &c.Prices, prices, nil, "what an hour of cpu and memory costs")},
		keys.Below("overload", c.Overload.Keys()...), keys.Below("production", c.Production.Keys()...))
}
