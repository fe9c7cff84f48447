// Package ratios implements the RatioService: the ratios in effect and their sources, and the impact
// of different ratios on pods.
//
// It must not know how layers of ratios become a table, nor how ratios are changed.
package ratios
