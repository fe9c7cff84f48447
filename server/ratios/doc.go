// Package ratios is the RatioService: which ratios are in force, and from where, who
// changes them, and what another one would mean for pods.
//
// It must not know how layers of ratios become a table, nor how overrides are kept.
package ratios
