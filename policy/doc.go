// Package policy provides what users want: which pods a rule is for, and what it sets for them:
// bounds, where demand comes from, how resizes are guarded, and when they are made. For the whole
// cluster, it has the pace and the prices.
//
// A source has Settings for all pods, the globals, and more for the pods of each rule. A rule has the
// values of the globals for what it omits. A Profile has the values that result, computed when a
// table is built, not when a pod is planned.
//
// Each key is declared once, in the method Keys of the struct that has its value. To add a key, add a field
// and its declaration. Everything else follows: see package keys.
//
// The package must not know how fast node types are, where settings come from, or how plans
// follow from them. Package ratios builds on it: its Table has a Profile of a pod together with
// the ratios that apply to it, so that a plan finds both with one lookup. The package sees a pod only as a
// Subject: what rules match on.
package policy
