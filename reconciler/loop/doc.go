// Package loop keeps pods at the size of their plans: it queues pods whose inputs have
// changed, plans them, executes the plans at a limited rate, and reports outcomes as
// events, metrics, log messages and traces.
//
// Its memory of pods (ledger) only prevents repeated reports and attempts. Losing it, as in
// a restart, loses no state of the cluster. The package must not compute sizes, nor know
// its callers.
package loop
