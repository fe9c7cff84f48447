// Package agent measures the node that it runs on with the kernels of
// agent/kernel, and makes samples of that: once, or at the start of the node and
// then at most daily as short spot checks. It does as little harm as it can: at the
// lowest priority, for 20 seconds at most, and it throws away what it has measured
// if the node was busy with something else.
//
// It must not know node types nor ratios, nor where samples go.
package agent
