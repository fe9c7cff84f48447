// Package localcluster runs the project's own binaries for tests and the demo: a real cluster
// (bin/testcluster), the server next to it (bin/workload-resizer), a proxy between the two that
// fails on demand, and Prometheus (bin/prometheus). Tests share a control plane if possible,
// and each test has its own namespace. The package also applies manifests and creates
// credentials.
//
// It must not know what tests check: it has no expectations about pods, ratios or plans, and
// does not use the server's packages.
package localcluster
