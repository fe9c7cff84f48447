// Package estimate estimates from samples how fast node types are: the result per benchmark,
// the ratio to a baseline, its confidence interval, and reasons to doubt it. Everything here
// is a pure function: the same samples give the same estimates, in any order and on every
// replica.
//
// Medians and means are over machines: a machine has the weight of its best sample regardless of
// how often it was measured, and its samples share that weight. A node that is measured hourly
// does not outvote one that is measured daily. Newer samples have more weight.
//
// A confidence interval covers other machines of the types, and other benchmarks like those that
// were run. The deviations of a machine in several benchmarks count together, because a machine
// that is fast in one benchmark is often fast in the others.
//
// It must not know where samples are stored or which ratios are in effect.
package estimate
