// Package history keeps what containers used, as measured: a distribution per workload, container
// and node type. It does not convert between node types, so that a change to a ratio changes
// recommendations immediately and never rewrites history.
//
// CPU samples count one by one. Of memory, the peak of each pod's container in each window counts,
// once. Windows have the length of the aggregation interval. The first window of a container ends
// with its first sample, as in the VPA. The peak of an open window is part of the distribution and
// is replaced when it grows.
//
// An absent sample is unknown: it is never counted as zero. Samples that cannot be true, or that
// came before, are rejected with a reason. A container's history on a node type expires when its
// last sample is older than the time that peaks are kept for. Nothing else deletes history.
//
// It must not know clocks, clients, pods or ratios: times and node types are arguments.
package history
