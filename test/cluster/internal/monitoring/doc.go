// Package monitoring runs real components that measure nodes and pods: metrics-server, as an
// aggregated API, and Prometheus. Both are programs of their own, which the user provides.
//
// The package must not know how processes are started or ended.
package monitoring
