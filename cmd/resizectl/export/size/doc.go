// Package size decides which requests and limits a template should have, given what it has and what usage
// recommends, and how they are written.
//
// Limits follow requests by the rules of package need, so that a template gets what the reconciler would give its pods
// on the baseline. The package is pure: it must not know files, clients or clocks.
package size
