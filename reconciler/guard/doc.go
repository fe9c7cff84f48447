// Package guard has the rules by which resizes are observed. Judge reports whether one made its pod worse, and Forbids
// which sizes a revert forbids.
//
// A resize is observed for a while. The record on the pod says what it changed, together with who
// set each size last, so that no crash can lose it. The pod is compared with its state
// before the resize. Only what the resize lowered can have made the pod worse: an increase is
// never blamed, nor is a size that another actor set. If something cannot be known, as on a node
// that was lost meanwhile, or because no source of usage shows it, the resize is not blamed.
//
// The planner asks the package, and reverts what it names. The package is pure: it must not depend on clients, clocks or
// the caller. It must not know other pods either: what pods do together is a question for package workload.
package guard
