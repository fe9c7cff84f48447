package ratios

import (
	"slices"

	"github.com/workload-resizer/workload-resizer/policy"
)

// Table is the result of merging all layers. It never changes after it is built.
type Table struct {
	// Revision identifies the content: tables with the same revision give every
	// pod the same size.
	Revision string
	// Baseline is the node type that requests are written for, unless a rule
	// sets another. It has an entry.
	Baseline string
	// Bounds applies to every node type, unless a rule overrides it.
	Bounds policy.Bounds
	// Cluster is what applies to the cluster as a whole. It is not part of the revision.
	policy.Cluster

	// profiles starts with the globals.
	profiles []*Profile
	// unused are the node types that are not used.
	unused []UnusedType
}

// Profile returns the profile of the first rule that matches a pod, or else the globals. It
// never returns nil.
func (t *Table) Profile(s policy.Subject) *Profile {
	for _, p := range t.profiles[1:] {
		if p.Matches(s) {
			return p
		}
	}
	return t.profiles[0]
}

// Profiles returns the globals, followed by the profiles of the rules in the order in which
// they are tried. The caller must not modify the slice.
func (t *Table) Profiles() []*Profile { return t.profiles }

// UnusedTypes returns the node types that are not used because their ratios are implausible:
// those of the globals, then those of the rules. The caller must not modify the slice.
func (t *Table) UnusedTypes() []UnusedType { return t.unused }

// MatchesAs reports whether the rules of both tables match the same pods in the same order,
// regardless of the values that they set.
func (t *Table) MatchesAs(other *Table) bool {
	return slices.EqualFunc(t.profiles, other.profiles, func(a, b *Profile) bool { return a.MatchesAs(&b.Profile) })
}

// Lookup returns the entry of a node type in the globals.
func (t *Table) Lookup(nodeType string) (*Entry, bool) { return t.profiles[0].Lookup(nodeType) }

// Knows reports whether the node type has an entry in the globals.
func (t *Table) Knows(nodeType string) bool { return t.profiles[0].Knows(nodeType) }

// NodeTypes returns the node types of the globals in alphabetical order. The
// caller must not modify the slice.
func (t *Table) NodeTypes() []string { return t.profiles[0].NodeTypes() }
