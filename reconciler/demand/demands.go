package demand

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/internal/broadcast"
	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/compare"
	"github.com/workload-resizer/workload-resizer/reconciler/neighbors"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/signal"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/checkpoint"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// DefaultJobLabel is the key of the label that names the workload of Jobs without an owner.
const DefaultJobLabel = "app.kubernetes.io/name"

// interval is the default of Usage.Interval.
const interval = time.Minute

// calm is the time between a change to a policy, or a harm, and the publication that follows it.
const calm = 3 * time.Second

// Usage configures how usage is collected. All fields must be set unless their comment names a default.
type Usage struct {
	// Sources measure usage. The first one is preferred.
	Sources []Source
	// Keeper stores what is known, and reads what other replicas have stored; nil keeps it in
	// memory only.
	Keeper *checkpoint.Keeper
	// Comparisons collects what pods use per hour; nil collects nothing. The Keeper must store it.
	Comparisons *compare.Comparisons
	// JobLabel is the key of the label that names the workload of Jobs without an owner; empty for
	// DefaultJobLabel.
	JobLabel string
	// Interval is the time between two publications, unless the ratios change; 0 means a minute.
	Interval time.Duration
}

// Config configures Demands. All fields must be set.
type Config struct {
	Usage
	// Cluster has the pods.
	Cluster *cluster.Cluster
	// Ratios has the speeds of node types.
	Ratios *ratios.Store
	// Planner determines the types of nodes.
	Planner *plan.Planner
	// Leads reports whether this process leads: only the leader reads the sources.
	Leads func() bool
	// Work returns how much work a pod did in an hour, in hours since 1970, by what counts it; 0 if that is not known. Nil knows nothing.
	Work func(of *pod.Pod, by *policy.Work, hour int64) float64
	// NodeChanged receives the nodes whose shares have changed. It must not block. Nil receives none.
	NodeChanged func(node string)
	// Clock provides the time.
	Clock clock.WithTicker
}

// Demands keeps what workloads need. All methods are safe for concurrent use.
type Demands struct {
	Config
	store   *usage.Store
	signals *signal.Signals
	gone    gone
	harms   harms
	survey  atomic.Pointer[survey]
	needs   atomic.Pointer[needs]
	// before is the table of the last publication, and modes are the modes of the policies then.
	before *usage.Table
	modes  map[usage.Workload]string
	// assumed is what containers need under the table that was last asked about, of those that are not in effect.
	assumed atomic.Pointer[assumed]
	// applied is what they need under the table that Applied returns.
	applied atomic.Pointer[assumed]
	sources []*reading
	// published notifies of each publication.
	published broadcast.Broadcast
	// policies notifies of each change to a policy.
	policies broadcast.Broadcast
	// counts are of the last publication.
	counts atomic.Pointer[counts]
	// neighbors is what the pods of each node share.
	neighbors *neighbors.Neighbors
	// account is what pods save; nil before the first publication.
	account atomic.Pointer[account]
}

// New returns demands that are unknown until Run. Call it before the cluster is read.
func New(config Config) *Demands {
	d := &Demands{Config: config, gone: gone{pods: map[types.NamespacedName]usage.Identity{}}, signals: signal.New(), before: &usage.Table{}}
	d.survey.Store(&survey{})
	d.counts.Store(&counts{})
	d.neighbors = neighbors.New(neighbors.Config{Cluster: config.Cluster, Planner: config.Planner, Workload: d.workloadNamed, Changed: config.NodeChanged})
	var names []string
	for _, source := range config.Sources {
		d.sources = append(d.sources, &reading{Source: source})
		names = append(names, source.Name())
	}
	d.store = usage.New(d.Lookup, func(c history.Container) usage.Options { return d.survey.Load().options(c) }, names...)
	config.Cluster.WatchPolicies(d.policies.Notify)
	config.Cluster.WatchPods(d.podChanged, func(types.NamespacedName) {})
	return d
}

// Table returns the newest demands.
func (d *Demands) Table() *usage.Table { return d.store.Table() }

// Watch returns a channel that receives after every publication. Publications that happen faster than
// they are received are merged into one.
func (d *Demands) Watch() <-chan struct{} { return d.published.Watch() }

// Run reads the sources while this process leads, and publishes demands, until ctx is done.
func (d *Demands) Run(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-d.Cluster.Filled():
	}
	var running sync.WaitGroup
	defer running.Wait()
	var read <-chan struct{}
	if d.Keeper != nil {
		read = d.Keeper.Watch()
		running.Go(func() { d.Keeper.Run(ctx, d.store, d.Leads) })
	}
	for _, source := range d.sources {
		running.Go(func() { d.read(ctx, source) })
	}
	ticker := d.Clock.NewTicker(cmp.Or(d.Interval, interval))
	defer ticker.Stop()
	changed, policies, harmed := d.Ratios.Watch(), d.policies.Watch(), d.harms.Watch()
	for everything := true; ; {
		if everything {
			d.publish(ctx)
		}
		everything = true
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		case <-changed:
		case <-read:
		case <-policies:
			// Tenants may change them as often as they like, and each publication looks at all pods.
			if !d.wait(ctx) {
				return
			}
		case <-harmed:
			// A node that is short of memory kills many.
			if !d.wait(ctx) {
				return
			}
			d.publishHarms(ctx)
			everything = false
		}
	}
}

// publish looks at all pods, and publishes what workloads need.
func (d *Demands) publish(ctx context.Context) {
	table := d.Ratios.Table()
	if table == nil {
		return
	}
	now := d.Clock.Now()
	s := d.take(table, d.survey.Load(), now)
	d.survey.Store(s)
	d.harms.take()
	d.fold(table)
	collects := d.Collects()
	for _, p := range d.Cluster.Pods("").List() {
		d.countHarm(ctx, p, now)
		if collects {
			d.countRun(p)
		}
	}
	for _, of := range d.forget(now) {
		d.countKills(ctx, &of, now)
	}
	d.store.Follow(s.version)
	demands := d.store.Publish(func(c history.Container) []usage.Ratios { return s.ratios(c, d.store.Ratios(c)) }, now)
	d.counts.Store(s.count(demands, now))
	d.apply(s, demands)
	d.share(s)
	d.published.Notify()
	d.addUp(s, demands.Demand)
}

// Collects reports whether this process counts usage: it leads, and knows what earlier leaders have
// counted.
func (d *Demands) Collects() bool { return d.Leads() && (d.Keeper == nil || d.Keeper.CaughtUp()) }
