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

// implausible returns why the node type of e is not used: it would be faster or slower than the
// baseline by more than the maximum. It returns "" if the node type is used. The factors are
// baseline / node. They are compared exactly: 5.5 is not more than 5 times 1.1.
func (p *Profile) implausible(e, baseline *Entry, limit, cpu, memory *big.Rat) string {
	var speeds []string
	for _, of := range [...]struct {
		resource string
		factor   *big.Rat
	}{{"cpu", cpu}, {"memory", memory}} {
		fast, slow, times := baseline.NodeType, e.NodeType, of.factor
		if times.Num().Cmp(times.Denom()) < 0 {
			fast, slow, times = slow, fast, new(big.Rat).Inv(times)
		}
		if times.Cmp(limit) > 0 {
			// The ratio of two floats may be too large for a float.
			speeds = append(speeds, fmt.Sprintf("%s would be %s times as fast as %s for %s", fast, new(big.Float).SetRat(times).Text('g', 6), slow, of.resource))
		}
	}
	if len(speeds) == 0 {
		return ""
	}
	return fmt.Sprintf("%s, beyond maxSpeedRatio %v: correct the ratio of %s (from %s) or of %s (from %s), or raise maxSpeedRatio in config.yaml",
		strings.Join(speeds, " and "), p.MaxSpeedRatio, e.NodeType, e.Ratio.Provenance.Source, baseline.NodeType, baseline.Ratio.Provenance.Source)
}

// Implausible is a node type that is not used because its ratio is implausible.
type Implausible struct {
	// Rule is the name of the rule; empty for the globals.
	Rule string
	// NodeType is the node type, and Baseline the node type that it is compared with.
	NodeType, Baseline string
	// Why says how the ratio is implausible, and what to do.
	Why string
}

// String returns the description on one line, e.g. "overrides[0] (critical): n4 would be …".
func (i Implausible) String() string {
	if i.Rule == "" {
		return i.Why
	}
	return i.Rule + ": " + i.Why
}

// findImplausible returns the implausible node types of the profiles. A rule does not repeat
// those that it shares with a profile before it.
func findImplausible(profiles []*Profile) []Implausible {
	var all []Implausible
	found := map[[2]string]bool{}
	for _, p := range profiles {
		for _, name := range p.names {
			why := p.entries[name].Implausible
			if key := [2]string{name, why}; why != "" && !found[key] {
				found[key] = true
				all = append(all, Implausible{Rule: p.Name, NodeType: name, Baseline: p.Baseline, Why: why})
			}
		}
	}
	return all
}

// mostImplausible is the maximum number of implausible node types that ImplausibleRatios
// describes: if the ratio of the baseline is wrong, all others are implausible.
const mostImplausible = 10

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
	for n, i := range t.implausible {
		if n == mostImplausible {
			problems = append(problems, fmt.Errorf("implausible ratios: %d more", len(t.implausible)-n))
			break
		}
		problems = append(problems, fmt.Errorf("implausible ratio: %s", i))
	}
	return errors.Join(problems...)
}
