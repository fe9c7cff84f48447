// Package reconciler owns pods: it decides what a pod should have on its node
// and writes it.
//
// It puts the parts together: cluster knows the pods and what is around them, plan decides,
// actuate writes, loop has the one do what the other says, and query answers questions.
//
// It must not know how it is asked: no gRPC, no protobuf, no flags.
package reconciler
