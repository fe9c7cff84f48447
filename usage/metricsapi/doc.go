// Package metricsapi is the source of usage that most clusters have: metrics.k8s.io, which
// metrics-server provides.
//
// It knows the newest measurement only, of CPU and the working set. It does not know throttling,
// pressure and peaks between measurements, so it is never a reason to lower a memory limit.
package metricsapi
