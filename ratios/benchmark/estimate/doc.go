// Package estimate tells from samples how fast node types are: what they come to
// per benchmark, what that makes the ratio to a baseline, how sure it is, and
// what speaks against trusting it. Everything here is a pure function: the same
// samples give the same figures, in whatever order they come and at every
// replica.
//
// Medians are over machines: every machine weighs the same, however often it was
// measured, and its weight is shared by its samples. A node that is measured daily
// is not outvoted by one that is measured hourly.
//
// Confidence intervals are by the Bayesian bootstrap (Rubin, 1981): a resample
// gives each machine a random weight, the same in all benchmarks, since a machine
// that is fast in one of them is often fast in the others, and shares that at
// random among its samples. An interval tells of the machines that were measured
// and of nothing else, neither of benchmarks that were not run. Of few machines no
// interval can tell much: see Estimate.Low.
//
// It must not know where samples are kept, nor what ratios are in force.
package estimate
