// Package overload decides which nodes are overloaded: those of which a value has been too high for
// minutes. It is pure: callers pass what was measured, and the time.
//
// It must not know how nodes are measured, or how others learn of its verdicts.
package overload
