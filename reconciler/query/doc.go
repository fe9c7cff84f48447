// Package query answers what people ask of a cluster: what would become of its pods and why,
// what was done to them, and what another table of ratios would mean. It asks the planner
// that the loop asks, and writes nothing.
//
// It must not know how it is asked: no gRPC, no protobuf.
package query
