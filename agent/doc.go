// Package agent measures the node that it runs on with the kernels of agent/kernel, and turns
// the scores into samples. It runs once, or when the node starts and then in short spot checks,
// one per period. It disturbs the node as little as possible: it runs at the lowest priority and
// for at most measure.Budget. It reports how busy the node was with something else, and discards
// the run if that makes it useless.
//
// It must not know node types, ratios or where samples go.
package agent
