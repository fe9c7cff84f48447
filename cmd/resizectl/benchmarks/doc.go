// Package benchmarks is the commands of what was measured of node types: it sends
// measurements to the server, shows them and what they come to, and takes a suggestion
// over. It is built on package ratios: to take one over is to override a ratio.
//
// It must not know how a suggestion is worked out.
package benchmarks
