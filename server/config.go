package server

import (
	"crypto/tls"
	"net"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/server/access"
)

// Config is what a Server is made of. All fields must be set, where no other
// default is named.
type Config struct {
	// Replica is the name of this process among its replicas, Version what it is
	// built from.
	Replica, Version string

	// Ratios are what is told and planned with.
	Ratios *ratios.Store
	// Overrides is one of the sources of Ratios; nil if that has none.
	Overrides *override.Store
	// Reconciler and Holds are of the cluster; both are nil for a server without
	// one.
	Reconciler *reconciler.Reconciler
	Holds      *hold.Store
	// Benchmarks are what was measured; nil if the server does not use it. A server
	// without a cluster does not.
	Benchmarks Benchmarks
	// Election tells which replica leads; nil if there is only this one.
	Election Election
	// Planner plans manifests where there is no Reconciler; with one it does not
	// count.
	Planner *reconciler.Planner

	// Access decides who may call what, and see which pods; nil lets callers of
	// this machine do everything, and no others anything.
	Access *access.Access
	// Limits are what callers can ask for.
	Limits Limits
	// Reflection lets callers ask what the API is, Channelz what connections do;
	// default false.
	Reflection, Channelz bool

	// GRPC and HTTP are listened on; the server closes them. HTTP is nil for
	// neither probes nor metrics.
	GRPC, HTTP net.Listener
	// TLS is what the gRPC API is encrypted with; nil is plaintext.
	TLS *tls.Config
	// Metrics are registered and exposed from here.
	Metrics *prometheus.Registry
}
