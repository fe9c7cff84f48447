// Package recorder writes the journal, and reads it: in ConfigMaps, so that it survives restarts and every replica knows it.
//
// Entries are collected in memory, which delays nobody, and stored in batches: acts after 15 seconds, resizes after 5
// minutes. The leader records what it does itself, and what it sees of holds, the freeze and overrides. Any other
// replica records only which of its callers ended a hold or the freeze, since nothing else stores that.
//
// The leader also stores how far it has recorded. Its successor marks a gap from there if it did not end in order.
//
// The package must not decide anything about pods, nor know who may read the journal.
package recorder
