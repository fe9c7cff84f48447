package policy

import "cmp"

// Settings are what users set, for all pods or for those of a rule.
type Settings struct {
	// Bounds limit the requests of each container.
	Bounds BoundsOverride
	// Demand is where the demand of pods comes from.
	Demand Demand
	// Guard is when resizes are made, and how they are observed and reverted.
	Guard Guard
}

// Over returns the settings with what they do not set from others.
func (s *Settings) Over(o *Settings) Settings {
	return Settings{Bounds: s.Bounds.or(o.Bounds), Demand: s.Demand.Over(&o.Demand), Guard: s.Guard.Over(&o.Guard)}
}

// IsEmpty reports whether nothing is set.
func (s *Settings) IsEmpty() bool {
	return s.Bounds == (BoundsOverride{}) && s.Demand.IsEmpty() && s.Guard.IsEmpty()
}

// Cluster is what users set for the cluster as a whole. Rules cannot set it.
type Cluster struct {
	// Pace is how quickly pods are resized that can wait.
	Pace Pace
	// Prices are what nodes cost; nil if they are not set.
	Prices *Prices
}

// Over returns the settings with what they do not set from others.
func (c *Cluster) Over(o *Cluster) Cluster {
	return Cluster{Pace: c.Pace.over(o.Pace), Prices: cmp.Or(c.Prices, o.Prices)}
}
