// Package measure runs kernels on a machine and scores their throughput: with all vCPUs
// at the same time, one thread pinned to each, and with one thread alone.
//
// Scores use CPU time, which is the time that threads run, and not wall-clock time: a score is
// work per CPU second, times the vCPUs. A CPU quota lets threads run only part of the time,
// and other processes take turns with them. Both make a measurement take longer but do not
// change its score.
//
// Kernels take turns. Only the fastest quarter of the repetitions counts, and within each, the
// fastest quarter of its units of work: disturbances come and go, and are not always visible, but
// they can only slow a thread down.
//
// It must not know which node this is or how scores are used.
package measure
