// Package neighbors lets a server size the pods in a cluster by what neighbors share, from reports as node agents send them. The
// requests of the pods on each node must follow the formula. Containers that use more than their request at the same time must
// get more immediately, even if the leader is killed meanwhile.
//
// It must not know the internals of the server: it computes the formula from what the API says.
package neighbors
