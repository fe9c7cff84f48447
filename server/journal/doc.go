// Package journal implements the JournalService: what happened in the last 30 days, as a list and as a watch.
//
// It must not know how entries are recorded or stored.
package journal
