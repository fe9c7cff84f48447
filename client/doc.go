// Package client lets Go programs call a workload-resizer server. It reads the performance
// ratios of the node types, what they mean for the pods in a cluster, and what was done to
// these pods. It also changes ratios, and restores or pauses pods.
//
// Dial returns a Client of the server at an address, DialCluster one of the server in a
// cluster, through the API server. The Client's helpers do what most callers want; Ratios,
// Plans, Resizes, Pauses and Benchmarks return the generated service clients for everything
// else. All of them return gRPC status errors: google.golang.org/grpc/status gives the code,
// and Reason the reason that the API documents.
//
// Reads are retried for about a second while the server is unavailable, and watches resume
// where they were. Writes are never retried: a write may have succeeded even if its response was lost.
//
// The package must not know how the server finds its answers: of this project, it imports
// only the generated API.
package client
