// Package reconciler owns pods: it decides which size a pod should have on its node,
// and writes that size.
//
// It connects the parts: cluster watches the pods and their surroundings, plan decides,
// actuate writes, loop executes plans with actuate, and query answers questions.
//
// It must not know how it is called: no gRPC, no protobuf, no flags.
package reconciler
