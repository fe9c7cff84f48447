// Package history keeps what containers used, as measured: a distribution per workload, container
// and node type. It does not convert between node types, so that a change to a ratio changes
// recommendations immediately and never rewrites history.
//
// CPU samples count one by one. Of memory, the peak of each pod's container in each window counts,
// once. Windows have the length of the aggregation interval. The first window of a container ends
// with its first sample, as in the VPA. The peak of an open window is part of the distribution and
// is replaced when it grows. So a sample of memory may come late, up to a window before the newest
// one, or from a second source: the highest counts.
//
// If several sources measure a container, no time counts twice. While the preferred source delivers
// CPU, the others stand by. When it has been silent for 15 minutes, the next one counts. If the
// preferred source delivers that time later, only what lies outside of it counts. Samples of CPU come
// in the order of time, or late: before all others, or into the hole that was left by an outage. Of the
// holes of the last three hours, the longest is known.
//
// An absent sample is unknown: it is never counted as zero. Samples that cannot be true, or that
// came before, are rejected with a reason. A container's history on a node type expires when its
// last sample is older than the time that peaks are kept for. Nothing else deletes history.
//
// The State of a container is what others store of it. It also has what a later version has stored, so that
// it is not lost.
//
// It must not know clocks, clients, pods or ratios: times and node types are arguments. Nor must it know in
// which form it is stored.
package history
