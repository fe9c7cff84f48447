package policy

import (
	"encoding/json"
	"fmt"

	"github.com/workload-resizer/workload-resizer/policy/keys"
)

// Profile is what applies to the pods of one rule, or to all pods that no rule matches. It does
// not change.
type Profile struct {
	// Name is the name of the rule; empty for the globals.
	Name string
	// Settings have the defaults of what is not set.
	Settings

	match matcher
	// guard is the guard as text: comparing it is faster than comparing values.
	guard string
}

// NewProfile returns the profile of all pods.
func NewProfile(globals *keys.Partial[Settings]) Profile {
	p := Profile{Settings: globals.Complete()}
	guard := p.Guard
	if len(guard.Objectives) == 0 {
		guard.Objectives = nil // An empty list is as none.
	}
	if len(guard.Schedule) == 0 {
		guard.Schedule = nil
	}
	text, err := json.Marshal(&guard)
	if err != nil {
		// Only infinities and NaN have no text, and no key accepts them.
		panic(fmt.Sprintf("policy: %v", err))
	}
	p.guard = string(text)
	return p
}

// NewRule returns the profile of a rule. The error describes what contradicts the globals.
func NewRule(name string, match Criteria, own, globals *keys.Partial[Settings]) (Profile, error) {
	all := own.Over(*globals)
	p := NewProfile(&all)
	p.Name, p.match = name, newMatcher(match)
	switch {
	case !p.Bounds.CPU.Valid():
		return p, fmt.Errorf("%s: combined with the global bounds, the cpu min is above the max", name)
	case !p.Bounds.Memory.Valid():
		return p, fmt.Errorf("%s: combined with the global bounds, the memory min is above the max", name)
	}
	return p, nil
}

// GuardsAs reports whether another profile guards pods in the same way.
func (p *Profile) GuardsAs(o *Profile) bool { return p.guard == o.guard }

// Usage returns what happens to pods whose demand from usage differs from their size: Observe if demand comes from the author.
func (p *Profile) Usage() string {
	if p.Demand.From != FromUsage {
		return Observe
	}
	return p.Demand.Mode
}

// AppliesUsage reports whether running pods are resized by what they were seen to need.
func (p *Profile) AppliesUsage() bool { return p.Usage() == Apply }

// Matches reports whether the rule matches a pod. The globals match all.
func (p *Profile) Matches(s Subject) bool { return p.match.matches(s) }

// MatchesAs reports whether the rules of two profiles match the same pods.
func (p *Profile) MatchesAs(o *Profile) bool { return p.match.equal(&o.match) }

// Identify calls write for everything by which the rule identifies its pods. Different rules give
// different sequences.
func (p *Profile) Identify(write func(fields ...string)) { p.match.identify(write) }
