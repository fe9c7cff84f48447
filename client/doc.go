// Package client lets Go programs call a workload-resizer server. It reads the performance
// ratios of the node types, what they mean for the pods in a cluster, what was done to
// these pods, and what workloads use and need. It also changes overrides of ratios, and restores or pauses pods.
//
// Dial returns a Client of the server at an address, DialCluster one of the server in a
// cluster, through the API server. The Client's helpers do what most callers want; Ratios,
// Overrides, Plans, Resizes, Holds, Benchmarks, Cluster, Journal and Usage return the generated service clients for
// everything else. All of them return gRPC status errors: google.golang.org/grpc/status gives
// the code, and Reason the reason that the API documents.
//
// While the server is unavailable, reads are retried for about a second, and watches resume
// where they were. So are writes whose requests have a request_id, which the Client sets: the
// server does not make them twice. Other writes are not retried, because they may have
// succeeded even if their response was lost.
//
// The package must not know how the server finds its answers: of this project, it imports
// only the generated API.
package client
