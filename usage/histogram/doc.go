// Package histogram stores how often a container used how much, with more weight for newer
// samples. Percentiles, weights and rounding equal those of the histograms of the Vertical Pod
// Autoscaler (VPA), to the last bit.
//
// Buckets grow exponentially, and a percentile is the upper edge of its bucket. A sample's weight
// doubles with every half-life that it is newer than the reference time of its histogram. The
// reference time moves when weights become too large.
//
// A histogram has only buckets with a weight, so that the one of a typical container fits in
// 250 bytes. Its State is what others store of it.
//
// It must not know clocks, containers, ratios, or in which form it is stored.
package histogram
