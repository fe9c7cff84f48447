package server

import (
	"crypto/tls"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/limits"
)

// Certificate is what is known of the serving certificate.
type Certificate interface {
	// Ready returns why nobody can connect yet, nil once they can.
	Ready() error
	// Problem returns why the last good certificate is in force, or why it cannot be
	// renewed; nil if all is well.
	Problem() error
	// Expiry is when the one in force expires; zero if there is none.
	Expiry() time.Time
}

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
	Limits limits.Limits
	// Reflection lets callers ask what the API is, Channelz what connections do;
	// default false.
	Reflection, Channelz bool

	// GRPC and HTTP are listened on; the server closes them. HTTP is nil for
	// neither probes nor metrics.
	GRPC, HTTP net.Listener
	// TLS is what the gRPC API and the profiles are encrypted with; nil is plaintext.
	TLS *tls.Config
	// Certificate is that of TLS; nil where TLS is.
	Certificate Certificate
	// Pprof is listened on for profiles of the process, by those whom PprofAccess
	// lets; nil for none. The server closes it.
	Pprof       net.Listener
	PprofAccess *access.Access
	// Traces tells of each call of the API; nil traces none.
	Traces trace.TracerProvider
	// Metrics are registered and exposed from here.
	Metrics *prometheus.Registry
}
