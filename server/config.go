package server

import (
	"crypto/tls"
	"net"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/benchmarks"
	"github.com/workload-resizer/workload-resizer/server/health"
	"github.com/workload-resizer/workload-resizer/server/limits"
	"github.com/workload-resizer/workload-resizer/server/status"
	"github.com/workload-resizer/workload-resizer/server/translate"
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
	Benchmarks benchmarks.Measured
	// Election tells which replica leads; nil if there is only this one.
	Election status.Election
	// Planner plans manifests where there is no Reconciler; with one it does not
	// count.
	Planner *plan.Planner

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
	Certificate health.Certificate
	// Pprof is listened on for profiles of the process, by those whom PprofAccess
	// lets; nil for none. The server closes it.
	Pprof       net.Listener
	PprofAccess *access.Access
	// Traces tells of each call of the API; nil traces none.
	Traces trace.TracerProvider
	// Metrics are registered and exposed from here.
	Metrics *prometheus.Registry
}

// standalone tells whether the server has no cluster.
func (c *Config) standalone() bool { return c.Reconciler == nil }

// stores are those that keep something in ConfigMaps.
func (c *Config) stores() (all []health.Store) {
	if c.Overrides != nil {
		all = append(all, c.Overrides)
	}
	if c.Holds != nil {
		all = append(all, c.Holds)
	}
	if c.Benchmarks != nil {
		all = append(all, c.Benchmarks)
	}
	return all
}

// planner plans pods that are not in the cluster. The error is that what the
// cluster allows is not known yet.
func (c *Config) planner() (*plan.Planner, error) {
	if c.standalone() {
		return c.Planner, nil
	}
	if err := c.Reconciler.Ready(); err != nil {
		return nil, translate.Error(err)
	}
	return c.Reconciler.Planner, nil
}
