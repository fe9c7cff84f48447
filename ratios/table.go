package ratios

import "slices"

// Table is what all layers come to. It never changes once it is made.
type Table struct {
	// Revision identifies the content: tables with the same revision size
	// every pod the same.
	Revision string
	// Baseline is the node type that requests are written for, unless a rule
	// says otherwise. It has an entry.
	Baseline string
	// Bounds holds for every node type, unless a rule says otherwise.
	Bounds Bounds

	// profiles begins with the globals.
	profiles []*Profile
}

// Profile returns what holds for a pod: the profile of the first rule that
// matches it, else the globals; never nil.
func (t *Table) Profile(s Subject) *Profile {
	for _, p := range t.profiles[1:] {
		if p.match.matches(s) {
			return p
		}
	}
	return t.profiles[0]
}

// Profiles lists the globals, then the profiles of the rules in the order in
// which they are tried. The caller must not change the slice.
func (t *Table) Profiles() []*Profile { return t.profiles }

// MatchesAs reports whether the rules of both tables match the same pods, in the same order,
// whatever they say of them.
func (t *Table) MatchesAs(other *Table) bool {
	return slices.EqualFunc(t.profiles, other.profiles, func(a, b *Profile) bool { return a.match.equal(&b.match) })
}

// Lookup returns the entry of a node type in the globals.
func (t *Table) Lookup(nodeType string) (*Entry, bool) { return t.profiles[0].Lookup(nodeType) }

// Knows tells whether the node type has an entry in the globals.
func (t *Table) Knows(nodeType string) bool { return t.profiles[0].Knows(nodeType) }

// NodeTypes lists the node types of the globals in alphabetical order. The
// caller must not change the slice.
func (t *Table) NodeTypes() []string { return t.profiles[0].NodeTypes() }
