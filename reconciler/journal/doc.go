// Package journal has what happened to the pods in a cluster, and to what decides about their sizes, for 30 days:
// resizes, reverts, evictions, breakers, holds, freezes and overrides. It says who did what, when and why, and marks
// the times of which it does not know everything.
//
// Resizes are counted per workload and hour, so that they cannot fill the journal. Everything else is one entry per act.
//
// A journal consists of segments. Each has resizes or acts, and one of each kind is open. Once it is full, another one
// begins. If there are no more, it replaces the oldest one, with resizes before acts.
//
// It is pure: it must not know clocks, clients, or where segments are stored.
package journal
