// Package production is the provider of the ratios that production shows: how fast node types are for the workloads that run on
// them. Once an hour, it makes an estimate from a copy of the evidence, and turns it into a suggestion per node type: a ratio
// with its intervals, or why there is none yet, and what would give one. The suggestions are stored in a ConfigMap, so that
// all replicas show the same ones, and a restart loses none.
//
// By default, suggestions are only shown. If the configuration says that they apply, ratios follow them as calmly as they
// follow benchmarks. While evidence cannot be read, is not good enough, or is old since nothing is measured, ratios stay as they
// are, for as long as evidence lives. Then they end. The ratio of a node type also ends if no node has the type and nothing is known of it any longer. If you empty
// the ConfigMap by hand, all its ratios end immediately, and later start again from the ratios of the other sources.
//
// Memory performances are never inferred: how much memory a workload needs does not depend on the speed of its node.
//
// It must not know the other sources, nor where evidence comes from.
package production
