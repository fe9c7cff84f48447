package server

import (
	"crypto/tls"
	"net"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	journalrecorder "github.com/workload-resizer/workload-resizer/reconciler/recorder"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/benchmarks"
	"github.com/workload-resizer/workload-resizer/server/health"
	"github.com/workload-resizer/workload-resizer/server/limits"
	"github.com/workload-resizer/workload-resizer/server/manifests"
	"github.com/workload-resizer/workload-resizer/server/status"
	"github.com/workload-resizer/workload-resizer/server/translate"
	usageservice "github.com/workload-resizer/workload-resizer/server/usage"
)

// Config configures a Server. All fields must be set unless their comment states a default.
type Config struct {
	// Replica is the name of this process among the replicas, and Version is its version.
	Replica, Version string

	// Ratios has the ratios that the API returns and plans with.
	Ratios *ratios.Store
	// Overrides is one of the sources of Ratios; nil if Ratios does not use it.
	Overrides *override.Store
	// Reconciler and Holds belong to the cluster; both are nil for a standalone server.
	Reconciler *reconciler.Reconciler
	Holds      *hold.Store
	// Journal has what happened; nil for a standalone server.
	Journal *journalrecorder.Recorder
	// Benchmarks has the measurements; nil if the server does not use them. A standalone
	// server does not.
	Benchmarks benchmarks.Measured
	// Production has what production shows of node types; nil if the server does not use it. A standalone server does not.
	Production Production
	// Demands has what workloads need, and Push takes the usage that callers report; both are nil
	// if the server does not use such sources.
	Demands *demand.Demands
	Push    usageservice.Pushed
	// Election reports which replica leads; nil if there is only this one.
	Election status.Election
	// Planner plans manifests if there is no Reconciler; otherwise it is ignored.
	Planner *plan.Planner
	// WorkloadKinds are the kinds of owners of controllers, whose manifests are planned.
	WorkloadKinds []schema.GroupResource

	// Access decides who may call what, and whose pods a caller can see. If it is nil,
	// callers on this machine may do everything, and others nothing.
	Access *access.Access
	// Limits are the limits for callers.
	Limits limits.Limits
	// Reflection enables gRPC server reflection, and Channelz enables channelz, which shows
	// the state of connections; default false.
	Reflection, Channelz bool

	// GRPC and HTTP are the listeners, which the server closes. If HTTP is nil, there are no
	// probes and no metrics.
	GRPC, HTTP net.Listener
	// TLS encrypts the gRPC API, and the profiles unless they are on a Unix socket; nil is
	// plaintext.
	TLS *tls.Config
	// Certificate is the serving certificate of TLS; nil if TLS is nil.
	Certificate health.Certificate
	// Pprof is the listener for profiles of the process, for callers that PprofAccess allows;
	// nil for no profiles. The server closes it.
	Pprof       net.Listener
	PprofAccess *access.Access
	// Creation returns why pods may not be sized at their creation; nil if the server sizes none then.
	Creation func() error
	// Traces traces each call of the API; nil for no traces.
	Traces trace.TracerProvider
	// Metrics is the registry that the server registers its metrics with and exposes.
	Metrics *prometheus.Registry
	// MetricsAccess decides who may read the metrics; nil for everyone.
	MetricsAccess *access.Access
}

// Production is the source of ratios that production shows; a production.Judge implements it.
type Production interface {
	benchmarks.Production
	manifests.Production
	health.Store
}

// standalone reports whether the server has no cluster.
func (c *Config) standalone() bool { return c.Reconciler == nil }

// stores returns the stores that keep documents in ConfigMaps.
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
	if c.Production != nil {
		all = append(all, c.Production)
	}
	if c.Journal != nil {
		all = append(all, c.Journal)
	}
	return all
}

// planner returns the planner for pods that are not in the cluster. It returns an error while
// it is not known what the cluster allows.
func (c *Config) planner() (*plan.Planner, error) {
	if c.standalone() {
		return c.Planner, nil
	}
	if err := c.Reconciler.Ready(); err != nil {
		return nil, translate.Error(err)
	}
	return c.Reconciler.Planner, nil
}
