// Package student has the quantiles of Student's t and of the chi-squared distribution, for the confidence
// intervals of ratios from benchmarks and from production.
//
// It must not know what is estimated.
package student
