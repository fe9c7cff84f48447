// Package neighbors lets a server size the pods of a cluster by what neighbors share, from reports as node agents send them. What
// the pods of each node request must follow the formula, and containers that use more than their request together must get
// more immediately, even if the leader is killed meanwhile.
//
// It must not know the internals of the server: it computes the formula from what the API says.
package neighbors
