// Package query answers questions about a cluster: how its pods would be resized and why,
// how they were resized, and what another table of ratios would change. It uses the same
// planner as the loop, and writes nothing.
//
// It must not know how it is called: no gRPC, no protobuf.
package query
