package policy

import "fmt"

// Profile is what applies to the pods of one rule, or to all pods that no rule matches. It does
// not change.
type Profile struct {
	// Name is the name of the rule; empty for the globals.
	Name string
	// Bounds applies to every node type.
	Bounds Bounds
	// Demand is where the demand of these pods comes from, and how it follows from usage.
	Demand Demand
	// Guard is when resizes of these pods are made, and how they are observed and reverted.
	Guard GuardSettings

	match matcher
	// settings are what the values result from.
	settings Settings
}

// NewProfile returns the globals.
func NewProfile(s Settings) Profile {
	return Profile{Bounds: s.Bounds.Over(Bounds{}), Demand: s.Demand, Guard: s.Guard.Settings(), settings: s}
}

// With returns the profile of a rule over the globals p. The error describes what contradicts the
// globals.
func (p *Profile) With(name string, match Criteria, s *Settings) (Profile, error) {
	q := NewProfile(s.Over(&p.settings))
	q.Name, q.match = name, newMatcher(match)
	switch {
	case !q.Bounds.CPU.Valid():
		return q, fmt.Errorf("%s: combined with the global bounds, the cpu min is above the max", name)
	case !q.Bounds.Memory.Valid():
		return q, fmt.Errorf("%s: combined with the global bounds, the memory min is above the max", name)
	}
	return q, nil
}

// Matches reports whether the rule matches a pod. The globals match all.
func (p *Profile) Matches(s Subject) bool { return p.match.matches(s) }

// MatchesAs reports whether the rules of two profiles match the same pods.
func (p *Profile) MatchesAs(o *Profile) bool { return p.match.equal(&o.match) }

// Identify calls write for everything by which the rule identifies its pods. Different rules give
// different sequences.
func (p *Profile) Identify(write func(fields ...string)) { p.match.identify(write) }
