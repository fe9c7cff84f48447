// Package ratios implements the RatioService: the ratios in effect and their sources, changes
// to ratios, and the impact of different ratios on pods.
//
// It must not know how layers of ratios become a table, nor how overrides are stored.
package ratios
