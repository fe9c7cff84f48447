// Package client is how Go programs ask a workload-resizer server: what the
// performance ratios of the node types are, and what they mean for the pods of
// a cluster; and have pods restored or left as they are.
//
// Dial gives a Client. Its helpers (ListRatios, PreviewPod, PreviewPlans,
// Restore, Pause, Resume, ListHolds) do what most callers want; Ratios, Plans
// and Holds are the generated service clients for everything else. Both try a
// read again that found the server unavailable, for about a second, and both
// return gRPC status errors: google.golang.org/grpc/status tells their code, and
// Reason the reason that the API documents.
//
// It must not know how the server finds its answers: of this project it imports
// the generated API and nothing else.
package client
