// Package estimate estimates from samples how fast node types are: the result per benchmark,
// the ratio to a baseline, its confidence interval, and reasons to doubt it. Everything here
// is a pure function: the same samples give the same estimates, in any order and on every
// replica.
//
// Medians are over machines: every machine has the same weight regardless of how often it was
// measured, and its samples share that weight. A node that is measured hourly does not outvote
// one that is measured daily.
//
// Confidence intervals use the Bayesian bootstrap (Rubin, 1981). Each resample gives every
// machine a random weight and distributes it at random among the machine's samples. The weight
// is the same in all benchmarks, because a machine that is fast in one benchmark is often fast
// in the others. An interval covers only the machines that were measured, and only the
// benchmarks that were run. With few machines, no interval is reliable: see Estimate.Low.
//
// It must not know where samples are stored or which ratios are in effect.
package estimate
