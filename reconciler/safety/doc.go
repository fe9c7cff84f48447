// Package safety has the vetoes: why a pod must be skipped, or must not get its desired
// size.
//
// Each veto comes from a pure check with one reason of the contract. The checks run in a
// fixed order, and the user sees the first veto.
//
//  1. Scope, for any size: ScopeReasons.
//  2. Change, for the desired size: ChangeReasons.
//
// plan.Checks has them in the order of all stages of a plan.
//
// The checks predict what the API server would reject, by its rules in Kubernetes 1.36. The
// API server decides: Refusal maps its messages to the same reasons. Data that a snapshot
// lacks causes no veto.
//
// A resize that only lowers requests needs neither room nor quota. Checking it costs nothing
// if the namespace has no LimitRange or ResourceQuota.
//
// The package must not depend on clients or the time, and never changes its input.
package safety
