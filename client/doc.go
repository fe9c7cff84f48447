// Package client is how Go programs ask a workload-resizer server: what the
// performance ratios of the node types are, what they mean for the pods of a
// cluster, and what was done to these; and have ratios changed and pods restored
// or left as they are.
//
// Dial gives a Client of a server at an address, DialCluster of the one in a
// cluster, through the API server. The Client's helpers do what most callers want;
// Ratios, Plans, Resizes, Pauses and Benchmarks are the generated service clients
// for everything else. Both return gRPC status errors: google.golang.org/grpc/status
// tells their code, and Reason the reason that the API documents.
//
// What reads is tried again for about a second where the server is unavailable,
// and watches go on where they were. What writes is never tried again: its answer
// alone may be lost.
//
// It must not know how the server finds its answers: of this project it imports
// the generated API and nothing else.
package client
