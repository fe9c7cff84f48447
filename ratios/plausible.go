package ratios

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
)

// DefaultMaxSpeedRatio is the maximum speed ratio unless the configuration sets another one.
const DefaultMaxSpeedRatio = 5

// ValidMaxSpeedRatio reports whether f can be a maximum speed ratio: finite and at least 1.
func ValidMaxSpeedRatio(f float64) bool { return f >= 1 && !math.IsInf(f, 0) }

// excess describes how far the node type of e is beyond the maximum speed ratio: how much faster
// or slower than the baseline it would be. It returns "" if the node type is within it. The
// factors are baseline / node. They are compared exactly: 5.5 is not more than 5 times 1.1.
func excess(e, baseline *Entry, most, cpu, memory *big.Rat) string {
	var speeds []string
	for _, of := range [...]struct {
		resource string
		factor   *big.Rat
	}{{"cpu", cpu}, {"memory", memory}} {
		fast, slow, times := baseline.NodeType, e.NodeType, of.factor
		if times.Num().Cmp(times.Denom()) < 0 {
			fast, slow, times = slow, fast, new(big.Rat).Inv(times)
		}
		if times.Cmp(most) > 0 {
			speeds = append(speeds, fmt.Sprintf("%s would be %s times as fast as %s for %s", fast, beyond(times, most), slow, of.resource))
		}
	}
	return strings.Join(speeds, " and ")
}

// beyond returns a number that is above a maximum with six digits, which show that it is.
func beyond(times, most *big.Rat) string {
	// The ratio of two floats may be too large for a float.
	text := new(big.Float).SetRat(times).Text('g', 6)
	if shown, ok := new(big.Rat).SetString(text); ok && shown.Cmp(most) <= 0 {
		return new(big.Float).SetRat(new(big.Rat).Mul(most, big.NewRat(100_001, 100_000))).Text('g', 6)
	}
	return text
}

// unused returns why a node type with this excess is not used, and what to do.
func (p *Profile) unused(e, baseline *Entry) string {
	if e.Excess == "" {
		return ""
	}
	return fmt.Sprintf("%s, beyond maxSpeedRatio %v: correct the ratio of %s (from %s) or of %s (from %s), or raise maxSpeedRatio in config.yaml",
		e.Excess, p.MaxSpeedRatio, e.NodeType, e.Ratio.Provenance.Source, baseline.NodeType, baseline.Ratio.Provenance.Source)
}

// UnusedType is a node type that is not used because its ratio is implausible.
type UnusedType struct {
	// Rule is the name of the rule; empty for the globals.
	Rule string
	// NodeType is the node type.
	NodeType string
	// Excess says how much faster or slower than the baseline it would be.
	Excess string
	// Why adds to Excess what to do.
	Why string
}

// String returns the description on one line, e.g. "overrides[0] (critical): n4 would be …".
func (u UnusedType) String() string {
	if u.Rule == "" {
		return u.Why
	}
	return u.Rule + ": " + u.Why
}

// name returns the node type and who does not use it.
func (u UnusedType) name() string {
	if u.Rule == "" {
		return u.NodeType
	}
	return u.NodeType + " by " + u.Rule
}

// NewlyUnused returns the unused node types that the table before uses, does not know, or has
// with a different excess. If there is no table before, it returns all of them.
func (t *Table) NewlyUnused(before *Table) []UnusedType { return unusedTypes(t.profiles, before) }

// unusedTypes returns the node types that the profiles do not use, without those that the table
// before has with the same excess. A rule does not repeat those that it shares with a profile
// before it.
func unusedTypes(profiles []*Profile, before *Table) []UnusedType {
	var all []UnusedType
	found := map[[2]string]bool{}
	for _, p := range profiles {
		for _, name := range p.names {
			e := p.entries[name]
			key := [2]string{name, e.Unused}
			if e.Unused == "" || found[key] || e.Excess == before.excess(p.Name, name) {
				continue
			}
			found[key] = true
			all = append(all, UnusedType{Rule: p.Name, NodeType: name, Excess: e.Excess, Why: e.Unused})
		}
	}
	return all
}

// excess returns the excess of a node type for a rule; empty if it is used, or not known.
func (t *Table) excess(rule, nodeType string) string {
	if t == nil {
		return ""
	}
	for _, p := range t.profiles {
		if e, ok := p.entries[nodeType]; ok && p.Name == rule {
			return e.Excess
		}
	}
	return ""
}

// mostUnused is the maximum number of unused node types that are described: if the ratio of the
// baseline is wrong, all others are implausible.
const mostUnused = 10

// DescribeUnused returns on one line which node types would not be used, and why: the first ten,
// and how many more there are.
func DescribeUnused(unused []UnusedType) string {
	if len(unused) == 1 {
		return fmt.Sprintf("%s would not be used: %s", unused[0].name(), unused[0].Why)
	}
	described := make([]string, min(len(unused), mostUnused))
	for i, u := range unused[:len(described)] {
		described[i] = fmt.Sprintf("%s (%s)", u.name(), u.Excess)
	}
	if more := len(unused) - len(described); more > 0 {
		described = append(described, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%d node types would not be used: %s, beyond maxSpeedRatio: correct the ratios, or raise maxSpeedRatio in config.yaml", len(unused), strings.Join(described, ", "))
}

// ImplausibleRatios is like Table.ImplausibleRatios for the current table.
func (s *Store) ImplausibleRatios() error {
	if t := s.table.Load(); t != nil {
		return t.ImplausibleRatios()
	}
	return nil
}

// ImplausibleRatios returns an error with a line for each node type of the table that is not
// used because its ratio is implausible; nil if there is none.
func (t *Table) ImplausibleRatios() error {
	var problems []error
	for n, u := range t.unused {
		if n == mostUnused {
			problems = append(problems, fmt.Errorf("implausible ratios: %d more", len(t.unused)-n))
			break
		}
		problems = append(problems, fmt.Errorf("implausible ratio: %s", u))
	}
	return errors.Join(problems...)
}
