package reconciler

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/loop"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
)

// Config is what a Reconciler is made of. All fields must be set, where no other
// default is named.
type Config struct {
	// Client watches the cluster.
	Client kubernetes.Interface
	// Dynamic watches what may not exist in the cluster.
	Dynamic dynamic.Interface
	// WorkloadKinds are followed from the controllers of pods upwards, and Metadata
	// watches them; with none, it may be nil, and only what names tell is known.
	WorkloadKinds []schema.GroupResource
	Metadata      metadata.Interface
	// Writer writes pods; it has the configuration of actuate.ClientConfig.
	Writer kubernetes.Interface
	// Asker asks the API server for previews; it has that configuration too.
	Asker kubernetes.Interface
	// QPS is how many requests per second Writer makes on average, and as many
	// Asker; 0 is no limit. Burst is how many each makes in one go.
	QPS   float32
	Burst int
	// Leader tells whether this process writes; nil if there is no other.
	Leader loop.Leader
	// Ratios is where the table is.
	Ratios *ratios.Store
	// Holds are the pods to be restored or let be.
	Holds loop.Holds
	// Planner decides. What the API server's version allows is added by Run.
	Planner plan.Planner
	// Events tells people.
	Events *loop.Events
	// Traces tells of each pod that is written to or spoken of; nil traces
	// nothing.
	Traces trace.TracerProvider
	// Metrics are registered here.
	Metrics prometheus.Registerer
	// Workers is how many pods are worked on at once.
	Workers int
	// RealignRate is how many pods that have been sized before are sized anew
	// per second; 0 is no limit.
	RealignRate float64
	// DryRun plans and reports, and writes nothing; default false.
	DryRun bool
}

// Reconciler keeps the pods of a cluster as their plans say, and answers what people ask of
// them. It puts the parts together, and does nothing by itself.
type Reconciler struct {
	*query.Queries
	*loop.Loop
}

// New returns a reconciler that does nothing until Run.
func New(config Config) (*Reconciler, error) {
	planner, now := &config.Planner, clock.RealClock{}
	of, err := cluster.New(cluster.Config{
		Client: config.Client, Dynamic: config.Dynamic, WorkloadKinds: config.WorkloadKinds, Metadata: config.Metadata,
		Ratios: config.Ratios, Holds: config.Holds, Planner: planner, Metrics: config.Metrics, Clock: now,
	})
	if err != nil {
		return nil, err
	}
	writes := actuate.NewMetrics(config.Metrics)
	actuator := func(client kubernetes.Interface) *actuate.Actuator {
		return actuate.New(actuate.Config{Client: client, Limiter: actuate.NewLimiter(config.QPS, config.Burst), Permit: actuate.Always, Clock: now, Metrics: writes})
	}
	return &Reconciler{
		Queries: &query.Queries{Cluster: of, Planner: planner, Asker: actuator(config.Asker)},
		Loop: loop.New(loop.Config{
			Cluster: of, Planner: planner, Writer: actuator(config.Writer), Leader: config.Leader, Ratios: config.Ratios, Holds: config.Holds,
			Events: config.Events, Traces: config.Traces, Metrics: config.Metrics, Workers: config.Workers, RealignRate: config.RealignRate,
			DryRun: config.DryRun, Clock: now,
		}),
	}, nil
}

// Run reads the cluster, and reconciles until ctx is done; it ends when the writes that have
// begun have.
func (r *Reconciler) Run(ctx context.Context) error {
	if err := r.Cluster.Read(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	r.Loop.Run(ctx)
	return nil
}

// Ready returns an error that says what is missing while plans cannot be made.
func (r *Reconciler) Ready() error { return r.Cluster.Ready() }

// Filled returns a channel that is closed once all pods were read: the reconciler can
// work from then on, given ratios.
func (r *Reconciler) Filled() <-chan struct{} { return r.Cluster.Filled() }

// UnknownOwners says which kinds of workloads cannot be read, a line for each; nil if all
// can. Pods are planned all the same, by what else is known.
func (r *Reconciler) UnknownOwners() error { return r.Cluster.Owners().Problem() }
