package reconciler

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/creation"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/loop"
	"github.com/workload-resizer/workload-resizer/reconciler/mover"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/objective"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/promql"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/reconciler/recorder"
	"github.com/workload-resizer/workload-resizer/reconciler/seal"
	"github.com/workload-resizer/workload-resizer/reconciler/startup"
	"github.com/workload-resizer/workload-resizer/reconciler/steer"
	"github.com/workload-resizer/workload-resizer/reconciler/vpastatus"
	"github.com/workload-resizer/workload-resizer/reconciler/work"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// Config configures a Reconciler. All fields must be set unless their comment names a
// default.
type Config struct {
	// Client watches the cluster.
	Client kubernetes.Interface
	// Dynamic watches kinds that may not exist in the cluster.
	Dynamic dynamic.Interface
	// WorkloadKinds are the kinds of owners to follow, from the controllers of pods
	// upward. Metadata watches them. With no kinds, Metadata may be nil, and owners are
	// only derived from names.
	WorkloadKinds []schema.GroupResource
	Metadata      metadata.Interface
	// Writer writes pods; it has the configuration of actuate.ClientConfig.
	Writer kubernetes.Interface
	// Asker asks the API server for previews; it has that configuration, too.
	Asker kubernetes.Interface
	// QPS is the average number of requests per second of Writer and of Asker, for
	// each of them; 0 means no limit. Burst is the maximum burst of each.
	QPS   float32
	Burst int
	// Leader reports whether this process writes; nil if it is the only one.
	Leader loop.Leader
	// Ratios provides the table of ratios.
	Ratios *ratios.Store
	// Holds provides the restores and pauses.
	Holds loop.Holds
	// Planner decides. Run adds the restrictions of the API server's version.
	Planner plan.Planner
	// Keys returns the keys that prove which sizes pods were given at their creation; nil if the server sizes none then.
	Keys func() *seal.Ring
	// Events records events on pods.
	Events *loop.Events
	// Traces receives a trace of each pod that the loop writes or reports on; nil
	// disables tracing.
	Traces trace.TracerProvider
	// Metrics is where all metrics are registered.
	Metrics prometheus.Registerer
	// Workers is the number of pods that are processed concurrently.
	Workers int
	// ResizesPerSecond is how many pods that can wait are resized per second, unless the ratios
	// set it; 0 means no limit.
	ResizesPerSecond float64
	// Nodes removes startup taints from nodes; nil if the cluster has none.
	Nodes corev1client.NodeInterface
	// Overload keeps new pods off overloaded nodes; nil to not do that.
	Overload *Overload
	// Evictions is how pods are moved to other nodes; nil if none are.
	Evictions *Evictions
	// Usage is how usage is collected; nil to not collect it.
	Usage *demand.Usage
	// VPAs writes the status of VerticalPodAutoscalers that name workload-resizer, which say what their targets need; nil
	// if they say nothing. It has an effect only if usage is collected.
	VPAs dynamic.Interface
	// Prometheus asks for the objectives of guards, and for the work of pods; nil to not ask.
	Prometheus promql.Query
	// Journal records what is done to pods; nil to not record it.
	Journal *recorder.Recorder
	// DryRun plans and reports, and writes nothing; default false.
	DryRun bool
	// Clock provides the time of all decisions; nil for the system clock.
	Clock clock.WithTicker
}

// Overload is how the taint of overloaded nodes is kept.
type Overload struct {
	// Nodes writes the taint.
	Nodes corev1client.NodeInterface
	// Sources measure nodes.
	Sources []steer.Source
}

// Evictions is how pods are moved to other nodes.
type Evictions struct {
	// Client reads pods and what they depend on. It limits the duration of its requests.
	Client kubernetes.Interface
	// The ConfigMap with this namespace and name stores which pods were evicted, and why.
	Namespace, Name string
	// OnReject receives invalid content of the ConfigMap, and what is wrong with it. It must not block.
	OnReject func(*corev1.ConfigMap, error)
}

// Reconciler keeps the pods in a cluster at their planned sizes, and answers queries about
// them. It connects the parts and has no logic of its own.
type Reconciler struct {
	*query.Queries
	*loop.Loop
	// Sizer sizes pods while they are created; nil if the server sizes none then.
	Sizer *creation.Sizer
	// Gate removes startup taints; nil if the cluster has none.
	Gate *startup.Gate
	// Mover moves pods to other nodes; nil if none are moved.
	Mover *mover.Mover
	// Demands has what workloads need; nil if usage is not collected.
	Demands *demand.Demands
	// objectives asks for the objectives of guards; nil to not ask.
	objectives *objective.Objectives
	// work asks how much work pods did; nil to not ask.
	work *work.Counts
	// vpas writes the status of VerticalPodAutoscalers; nil to not write any.
	vpas *vpastatus.Writer
	// steer keeps new pods off overloaded nodes; nil to not do that.
	steer *steer.Steer
}

// New returns a reconciler that does nothing until Run.
func New(config Config) (*Reconciler, error) {
	planner, now := &config.Planner, config.Clock
	if now == nil {
		now = clock.RealClock{}
	}
	of, err := cluster.New(cluster.Config{
		Client: config.Client, Dynamic: config.Dynamic, WorkloadKinds: config.WorkloadKinds, Metadata: config.Metadata,
		VPAPolicies: config.VPAs != nil, Ratios: config.Ratios, Holds: config.Holds, Planner: planner, Keys: config.Keys, Metrics: config.Metrics, Clock: now,
	})
	if err != nil {
		return nil, err
	}
	writes := actuate.NewMetrics(config.Metrics)
	actuator := func(client kubernetes.Interface) *actuate.Actuator {
		return actuate.New(actuate.Config{Client: client, Limiter: actuate.NewLimiter(config.QPS, config.Burst), Permit: actuate.Always, Clock: now, Metrics: writes})
	}
	writer := actuator(config.Writer)
	r := &Reconciler{}
	r.Queries = &query.Queries{Cluster: of, Planner: planner, Asker: actuator(config.Asker)}
	r.Loop = loop.New(loop.Config{
		Cluster: of, Planner: planner, Writer: writer, Leader: config.Leader, Ratios: config.Ratios, Holds: config.Holds,
		Events: config.Events, Traces: config.Traces, Metrics: config.Metrics, Workers: config.Workers, ResizesPerSecond: config.ResizesPerSecond,
		Planned:     func(name types.NamespacedName, of *pod.Pod, p *plan.Plan) { r.Mover.Planned(name, of, p) },
		BudgetEased: func(namespace string) { r.Mover.BudgetEased(namespace) }, Wrote: config.Journal.Wrote, DryRun: config.DryRun, Clock: now,
	})
	r.Queries.Waits, r.Eviction = r.Loop.Waits, r.eviction
	if config.Keys != nil {
		r.Sizer = &creation.Sizer{Config: creation.Config{Cluster: of, Planner: planner, Keys: config.Keys, Clock: now}}
	}
	leads := func() bool { return true }
	if config.Leader != nil {
		leads = config.Leader.Leading
	}
	if u := config.Usage; u != nil {
		if config.Prometheus != nil && u.Comparisons != nil {
			r.work = work.New(work.Config{Cluster: of, Query: config.Prometheus, Leads: leads, Clock: now})
			r.work.Register(config.Metrics)
		}
		r.Demands = demand.New(demand.Config{
			Usage: *u, Cluster: of, Ratios: config.Ratios, Planner: planner, Leads: leads, Work: r.work.Of, NodeChanged: func(node string) { r.Mover.NodeChanged(node) }, Clock: now,
		})
		r.Demands.Register(config.Metrics)
		r.Applied = r.Demands.Applied
		if config.VPAs != nil && !config.DryRun {
			r.vpas = vpastatus.New(vpastatus.Config{Client: config.VPAs, Demands: r.Demands, Metrics: config.Metrics, Clock: now})
		}
	}
	if e := config.Evictions; e != nil {
		moving := mover.Config{
			Cluster: of, Planner: planner, Holds: config.Holds, Loop: r.Loop, Client: e.Client, Evict: writer.Evict, Watcher: config.Client, Namespace: e.Namespace, Name: e.Name, Sizer: r.Sizer,
			Tell: r.tellEviction(config.Events, config.Journal), OnReject: e.OnReject, DryRun: config.DryRun, Clock: now,
		}
		if config.Leader != nil {
			moving.Leader = config.Leader
		}
		if r.Demands != nil {
			moving.Headroom = r.Demands.Neighbors()
		}
		r.Mover = mover.New(moving)
		r.Mover.Register(config.Metrics)
	}
	if config.Prometheus != nil {
		r.objectives = objective.New(objective.Config{Cluster: of, Query: config.Prometheus, Leads: leads, Clock: now})
		r.objectives.Register(config.Metrics)
	}
	of.Hear(r.signals, r.demand)
	if config.Nodes != nil && !config.DryRun {
		r.Gate = startup.New(startup.Config{Nodes: config.Nodes, Node: of.NodeNamed, Leads: leads, Clock: now})
		of.WatchNodes(r.Gate.Changed)
	}
	r.Gate.Register(config.Metrics)
	if o := config.Overload; o != nil {
		r.steer = steer.New(steer.Config{
			Client: o.Nodes, Sources: o.Sources, Cluster: of, Ratios: config.Ratios, Holds: config.Holds, Say: config.Events.Node,
			Leads: leads, DryRun: config.DryRun, Metrics: config.Metrics, Clock: now,
		})
	}
	return r, nil
}

// tellEviction returns what reports that a pod was evicted.
func (r *Reconciler) tellEviction(events *loop.Events, journal *recorder.Recorder) func(types.NamespacedName, types.UID, plan.Reason) {
	return func(name types.NamespacedName, uid types.UID, said plan.Reason) {
		events.Pod(name, uid, said)
		evicted := recorder.Pod{Namespace: name.Namespace, Name: name.Name, UID: string(uid)}
		if of := r.Cluster.Pods(name.Namespace).Get(name.Name); of != nil && of.UID == uid {
			evicted.Node, evicted.Workloads = of.Node(), r.Cluster.Owners().Chain(nil, of)
		}
		journal.Evicted(evicted, said)
	}
}

// signals returns what is known of how a pod fares.
func (r *Reconciler) signals(of *pod.Pod) guard.Signals {
	s := guard.Signals{Unknown: "the server uses no sources of usage"}
	if r.Demands != nil {
		s = r.Demands.Signals(of)
	}
	if r.objectives != nil {
		s.Objectives = r.objectives.Of(of)
	}
	return s
}

// demand returns what usage says about a pod that exists, or that is being created; nil if its sizes do not follow usage.
func (r *Reconciler) demand(of *pod.Pod, owners []workload.Workload, table *ratios.Table, creating bool) need.Demand {
	if r.Demands == nil {
		if table.Profile(of).AppliesUsage() {
			return need.Unknown{}
		}
		return nil
	}
	return r.Demands.NeedsOf(of, owners, table, creating)
}

// Run reads the cluster and reconciles until ctx is done. It returns when all writes in
// progress have ended.
func (r *Reconciler) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	if r.Gate != nil {
		// It needs only nodes. Pods may take long to read, and nodes must not wait for them.
		running.Go(func() { r.Gate.Run(ctx) })
	}
	if r.Demands != nil {
		running.Go(func() { r.Demands.Run(ctx) })
	}
	if r.vpas != nil {
		running.Go(func() { r.vpas.Run(ctx) })
	}
	if r.objectives != nil {
		running.Go(func() { r.objectives.Run(ctx) })
	}
	if r.work != nil {
		running.Go(func() { r.work.Run(ctx) })
	}
	if r.steer != nil {
		running.Go(func() { r.steer.Run(ctx) })
	}
	if err := r.Cluster.Read(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	if r.Mover != nil {
		running.Go(func() { r.Mover.Run(ctx) })
	}
	r.Loop.Run(ctx)
	return nil
}

// Ready returns an error that names what is missing while pods cannot be planned.
func (r *Reconciler) Ready() error { return r.Cluster.Ready() }

// Filled returns a channel that is closed once all pods are read. From then on, the
// reconciler can work if it has ratios.
func (r *Reconciler) Filled() <-chan struct{} { return r.Cluster.Filled() }

// UnknownObjectives returns an error that lists the objectives that cannot be read, one per line; nil if all
// can be read.
func (r *Reconciler) UnknownObjectives() error {
	if r.objectives == nil {
		return nil
	}
	return r.objectives.Problem()
}

// UnknownWork returns an error that lists the queries of work that cannot be read, one per line; nil if all can be read.
func (r *Reconciler) UnknownWork() error { return r.work.Problem() }

// eviction describes when the pod of a plan is evicted so that it gets its size on another node, or why it is not; empty if
// nothing requires that.
func (r *Reconciler) eviction(p *plan.Plan) string {
	if of := r.Cluster.Pods(p.Pod.Namespace).Get(p.Pod.Name); r.Mover != nil && of != nil && of.UID == p.UID {
		return r.Mover.Explain(of)
	}
	return ""
}

// OverloadOf describes what keeps new pods off a node because it is overloaded, or would without a dry run; empty if nothing does, or
// the node is not known.
func (r *Reconciler) OverloadOf(node string) string {
	if n := r.Cluster.NodeNamed(node); n != nil {
		return r.steer.Explain(n)
	}
	return ""
}

// Overloaded returns how many nodes have the taint of overloaded nodes, or would have it without a dry run.
func (r *Reconciler) Overloaded() int { return r.steer.Overloaded(r.Cluster.Nodes()) }

// EvictionProblem returns why no pod can be evicted although the configuration says that pods may be; nil if nothing prevents it.
func (r *Reconciler) EvictionProblem() error {
	if r.Mover != nil {
		return r.Mover.Problem()
	}
	if rules, known := r.Cluster.Rules(); known && slices.ContainsFunc(rules.Table.Profiles(), func(p *ratios.Profile) bool { return p.Eviction.Enabled }) {
		return errNoEvictions
	}
	return nil
}

var errNoEvictions = errors.New("eviction.enabled is set, but the server evicts no pods: apply the component evict-pods, which has the rights and the flag --evict-pods")

// UnknownOwners returns an error that lists the kinds of workloads that cannot be read, one
// per line; nil if all can be read. Pods are planned anyway, without these owners.
func (r *Reconciler) UnknownOwners() error { return r.Cluster.Owners().Problem() }
