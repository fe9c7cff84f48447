// Package loop keeps pods as their plans say: it queues those of which something has
// changed, plans them, has their plans carried out, at a rate that a cluster bears, and
// tells people in events, metrics, the log and traces.
//
// What it remembers of pods (ledger) is only so that nothing is said or tried twice: losing
// it, as a restart does, loses no state of the cluster. It must not compute sizes, nor know
// who asks about them.
package loop
