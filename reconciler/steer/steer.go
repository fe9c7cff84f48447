package steer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/overload"
	"github.com/workload-resizer/workload-resizer/reconciler/taint"
	"github.com/workload-resizer/workload-resizer/usage"
)

// interval is the time between two rounds.
const interval = 30 * time.Second

// Source measures nodes.
type Source = usage.NodeSource

// Cluster knows the nodes.
type Cluster interface {
	// Filled returns a channel that is closed once all nodes are read.
	Filled() <-chan struct{}
	// Nodes returns all nodes. Those need to have only what decides whether new pods may start there.
	Nodes() []*corev1.Node
}

// Ratios provides the configuration in effect.
type Ratios interface {
	// Table returns the table with the configuration; nil while there is none.
	Table() *ratios.Table
	// Watch returns a channel that receives after every change.
	Watch() <-chan struct{}
}

// Holds knows whether the cluster is frozen.
type Holds interface {
	// Ready returns the holds, or why they are unknown.
	Ready() (*hold.Table, error)
	// FrozenNow reports whether the cluster is frozen, as the API server says now.
	FrozenNow(ctx context.Context) (bool, error)
}

// Config configures a Steer. All fields must be set unless their comment names a default.
type Config struct {
	// Client writes nodes.
	Client corev1client.NodeInterface
	// Sources measure nodes. They are read only while the configuration says that overloaded nodes get the taint.
	Sources []Source
	Cluster Cluster
	Ratios  Ratios
	Holds   Holds
	// Say records an event on a node.
	Say func(on *corev1.Node, reason, message string)
	// Leads reports whether this process leads.
	Leads func() bool
	// DryRun decides and shows which nodes would have the taint, and writes nothing; default false.
	DryRun bool
	// Metrics is where all metrics are registered.
	Metrics prometheus.Registerer
	Clock   clock.WithTicker
}

// Steer gives overloaded nodes the taint, and removes it.
type Steer struct {
	Config
	judge *overload.Judge
	// written are the nodes that this process wrote, until the watch has them. With a dry run, they are those that it would have
	// written.
	written map[string]*corev1.Node
	// would is a copy of these after each round of a dry run, for other goroutines.
	would atomic.Pointer[map[string]*corev1.Node]
	// failed are the last errors in the log, by the node or source: a right may be missing for days.
	failed map[string]string
	spared prometheus.Gauge
	writes *prometheus.CounterVec
}

// New returns a Steer that does nothing until Run.
func New(config Config) *Steer {
	s := &Steer{
		Config: config, judge: overload.New(), written: map[string]*corev1.Node{}, failed: map[string]string{},
		spared: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "workload_resizer_overloaded_spared_nodes",
			Help: "Overloaded nodes that do not get the taint because as many others have it as overload.maxShare allows. Only the leader counts them.",
		}),
		writes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "workload_resizer_overloaded_taint_writes_total",
			Help: "Writes of the taint of overloaded nodes, by action (taint, clear) and result (written, failed).",
		}, []string{"action", "result"}),
	}
	config.Metrics.MustRegister(s.spared, s.writes, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "workload_resizer_overloaded_tainted_nodes",
		Help: "Nodes with the taint of overloaded nodes.",
	}, func() float64 { return float64(Tainted(s.Cluster.Nodes())) }), prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "workload_resizer_overloaded_longest_seconds",
		Help: "How long the node that has had the taint of overloaded nodes longest has had it; 0 if no node has it.",
	}, func() float64 { return s.longest().Seconds() }))
	return s
}

// Run keeps the taints while this process leads, until ctx is done.
func (s *Steer) Run(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-s.Cluster.Filled():
	}
	changed, ticker := s.Ratios.Watch(), s.Clock.NewTicker(interval)
	defer ticker.Stop()
	for {
		s.round(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		case <-changed:
		}
	}
}

// round decides once which nodes have the taint.
func (s *Steer) round(ctx context.Context) {
	if s.DryRun {
		defer func() { s.would.Store(new(maps.Clone(s.written))) }()
	}
	table := s.Ratios.Table()
	if !s.Leads() || table == nil {
		s.forget()
		return
	}
	nodes := s.nodes()
	if !table.Overload.Enabled {
		s.forget()
		for _, n := range nodes {
			if taint.Has(n, ours) {
				s.clear(ctx, n, "overload.enabled is false")
			}
		}
		return
	}
	s.steer(ctx, nodes, &table.Overload)
}

// forget forgets what was measured: it may be long ago when it is needed again.
func (s *Steer) forget() {
	s.judge = overload.New()
	s.spared.Set(0)
}

// nodes returns all nodes as they are after the writes of this process.
func (s *Steer) nodes() []*corev1.Node {
	all := slices.Clone(s.Cluster.Nodes())
	kept := make(map[string]*corev1.Node, len(s.written))
	for i, n := range all {
		if w := s.written[n.Name]; w != nil && w.UID == n.UID && (s.DryRun || newer(w, n)) {
			kept[n.Name] = w
			all[i] = s.after(n, w)
		}
	}
	s.written = kept
	return all
}

// after returns a node as it is after it was written. A dry run would have written no more than the taint.
func (s *Steer) after(n, written *corev1.Node) *corev1.Node {
	n = n.DeepCopy()
	if !s.DryRun {
		n.Spec.Taints = written.Spec.Taints
		return n
	}
	n.Spec.Taints = append(taint.Without(n, ours), taint.Without(written, func(t corev1.Taint) bool { return !ours(t) })...)
	return n
}

// newer reports whether a node was written after the watch had seen it.
func newer(written, seen *corev1.Node) bool {
	order, err := resourceversion.CompareResourceVersion(written.ResourceVersion, seen.ResourceVersion)
	return err == nil && order > 0
}

// steer follows the verdicts on all nodes.
func (s *Steer) steer(ctx context.Context, all []*corev1.Node, limits *policy.Overload) {
	usages := s.read(ctx)
	if ctx.Err() != nil {
		return
	}
	byName := make(map[string]*corev1.Node, len(all))
	judged := make([]overload.Node, len(all))
	wanted := wantedTaint(limits)
	for i, n := range all {
		byName[n.Name] = n
		judged[i] = overload.Node{
			Name: n.Name, UID: string(n.UID), Tainted: taint.Has(n, ours),
			Works: works(n) && !taint.Has(n, func(t corev1.Taint) bool { return !ours(t) && t.MatchTaint(&wanted) }), Readings: readingsOf(n, usages[n.Name]),
		}
	}
	d := s.judge.Decide(limits, judged, s.Clock.Now())
	s.spared.Set(float64(d.Spared))
	cleared := map[string]bool{}
	for _, v := range d.Clear {
		cleared[v.Node] = true
		if !s.clear(ctx, byName[v.Node], whyCleared(v.Why, limits)) {
			d.Room-- // Otherwise, too many nodes could have the taint.
		}
	}
	for _, n := range all {
		// The configuration may have changed since the node got it.
		if taint.Has(n, ours) && !cleared[n.Name] && !taint.Has(n, func(t corev1.Taint) bool { return same(t, wanted) }) {
			s.taint(ctx, n, wanted, "its key or effect has changed in the configuration")
		}
	}
	for _, v := range d.Taint[:max(0, min(d.Room, len(d.Taint)))] {
		s.taint(ctx, byName[v.Node], wanted, whyTainted(&v, limits))
	}
}

// ours reports whether the server has set a taint because of overload. It may set and remove no other effects.
func ours(t corev1.Taint) bool {
	return t.Value == contract.OverloadMark && (t.Effect == corev1.TaintEffectPreferNoSchedule || t.Effect == corev1.TaintEffectNoSchedule)
}

func same(a, b corev1.Taint) bool {
	return a.Key == b.Key && a.Value == b.Value && a.Effect == b.Effect
}

func wantedTaint(limits *policy.Overload) corev1.Taint {
	return corev1.Taint{Key: limits.Taint, Value: contract.OverloadMark, Effect: corev1.TaintEffect(limits.Effect)}
}

// taint gives a node the taint, unless the cluster is frozen. It replaces one with another key or effect.
func (s *Steer) taint(ctx context.Context, n *corev1.Node, wanted corev1.Taint, why string) {
	if frozen, err := s.frozen(ctx); frozen || err != nil {
		return
	}
	if wanted.TimeAdded = since(n); wanted.TimeAdded == nil {
		wanted.TimeAdded = &metav1.Time{Time: s.Clock.Now()}
	}
	if s.write(ctx, "taint", n, append(taint.Without(n, ours), wanted)) {
		s.say(ctx, n, contract.NodeOverloaded, fmt.Sprintf("New pods start elsewhere if they can (taint %s:%s): %s", wanted.Key, wanted.Effect, why))
	}
}

// frozen reports whether nothing new may be done.
func (s *Steer) frozen(ctx context.Context) (bool, error) {
	holds, err := s.Holds.Ready()
	if err != nil || holds.Freeze() != nil {
		return true, err
	}
	return s.Holds.FrozenNow(ctx) // The watch may be late.
}

// clear removes the taint of a node, and reports whether it is gone. A freeze does not prevent that: the node is then as if there
// were no server.
func (s *Steer) clear(ctx context.Context, n *corev1.Node, why string) bool {
	if !s.write(ctx, "clear", n, taint.Without(n, ours)) {
		return false
	}
	s.say(ctx, n, contract.NodeRelieved, "The taint for overloaded nodes was removed: "+why)
	return true
}

// say records an event on a node; with a dry run, it only logs what would have happened.
func (s *Steer) say(ctx context.Context, on *corev1.Node, reason, message string) {
	if s.DryRun {
		klog.FromContext(ctx).Info("Taint for overloaded nodes would be written, but the server runs with --dry-run", "node", on.Name, "reason", reason, "message", message)
		return
	}
	s.Say(on, reason, message)
}

// write sets the taints of a node, and reports whether it did.
func (s *Steer) write(ctx context.Context, action string, n *corev1.Node, taints []corev1.Taint) bool {
	if !s.Leads() || ctx.Err() != nil {
		return false
	}
	if s.DryRun {
		after := n.DeepCopy()
		after.Spec.Taints = taints
		s.written[n.Name] = after
		return true
	}
	after, err := taint.Set(ctx, s.Client, n, taints)
	if err != nil {
		s.writes.WithLabelValues(action, "failed").Inc()
		if !apierrors.IsInvalid(err) && !apierrors.IsNotFound(err) { // It has changed since it was read.
			s.note(ctx, n.Name, err, "Taint for overloaded nodes not written; trying again", "node")
		}
		return false
	}
	s.note(ctx, n.Name, nil, "", "")
	s.writes.WithLabelValues(action, "written").Inc()
	s.written[n.Name] = after
	klog.FromContext(ctx).Info("Taint for overloaded nodes written", "node", n.Name, "action", action)
	return true
}

// whyTainted says why a node gets the taint.
func whyTainted(v *overload.Verdict, limits *policy.Overload) string {
	limit, least := v.Signal.Limit(limits), keys.DurationText(limits.For)
	switch v.Signal {
	case overload.CPU, overload.Memory:
		return fmt.Sprintf("its usage of %s has been at least %.4g%% of allocatable for %s, and is %.4g%% now", v.Signal, 100*limit, least, 100*v.Value)
	case overload.Pressure:
		return fmt.Sprintf("tasks have waited for cpu at least %.4g%% of the time for %s, and %.4g%% now", 100*limit, least, 100*v.Value)
	}
	return fmt.Sprintf("its load has been at least %.4g per vCPU for %s, and is %.4g now", limit, least, v.Value)
}

// whyCleared says why a node loses the taint.
func whyCleared(why overload.Why, limits *policy.Overload) string {
	switch why {
	case overload.NotKnown:
		return fmt.Sprintf("its usage has not been known for %s", keys.DurationText(overload.Forget))
	case overload.TooMany:
		return fmt.Sprintf("more nodes have it than overload.maxShare allows (%.4g%%), and the others are more overloaded", 100*limits.MaxShare)
	}
	return fmt.Sprintf("all measured values have been low for %s", keys.DurationText(limits.For))
}
