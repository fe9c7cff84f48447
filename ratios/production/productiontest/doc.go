// Package productiontest simulates clusters whose node types have known ratios, in order to test what evidence and
// estimates make of them. Its workloads can have everything that misleads.
//
// It must not know how estimates are made: it only produces hours, and the truth behind them.
package productiontest
