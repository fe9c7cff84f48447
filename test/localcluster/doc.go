// Package localcluster runs the project's own binaries for tests and the demo:
// a real cluster (bin/testcluster), the server beside it (bin/workload-resizer),
// and a proxy between the two that breaks down when told to; and a Prometheus
// (bin/prometheus). Tests share a control plane where they can, each in a namespace of
// its own. It also brings manifests and credentials into the cluster.
//
// It must not know what is to be shown with them: no expectations about pods,
// ratios or plans, and nothing of what the server is made of.
package localcluster
