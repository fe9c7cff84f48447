// Package measure has a machine do kernels, and tells how much of each it gets
// done: with all vCPUs at once, one thread pinned to each, and with one alone.
//
// Scores are of CPU time, the time that threads run, not of the clock on the
// wall: work by CPU second, times the vCPUs. A CPU quota, which lets threads run
// only part of the time, and other processes, which take turns with them, make a
// measurement take longer and do not change its score.
//
// All kernels take turns, and the fastest quarter of the repetitions counts: what
// disturbs only ever makes slower, comes and goes, and cannot always be seen.
//
// It must not know what node this is, nor what becomes of scores.
package measure
