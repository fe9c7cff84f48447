package loop

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// breakers remembers what came of resizes. Every replica does, so that the next leader knows it too;
// only the leader opens breakers.
type breakers struct {
	mu       sync.Mutex
	outcomes *workload.Outcomes
	// counted is the table of ratios by which all pods were counted. Only openBreakers uses it.
	counted *ratios.Table
	// due receives if a breaker may have to open.
	due chan struct{}
}

func newBreakers() *breakers {
	return &breakers{outcomes: workload.NewOutcomes(), due: make(chan struct{}, 1)}
}

// check lets the leader check soon whether a breaker must open. It never blocks.
func (b *breakers) check() {
	select {
	case b.due <- struct{}{}:
	default: // It has not begun the last check yet.
	}
}

// count takes note of what came of the last resize of a pod, by the settings for it.
func (l *Loop) count(of *pod.Pod, workloads []workload.Workload, settings *policy.Guard) {
	if of.ResizedAt().IsZero() || len(workloads) == 0 {
		return
	}
	group := workload.TopOf(of, workloads)
	l.breakers.mu.Lock()
	defer l.breakers.mu.Unlock()
	if !settings.Enabled || !settings.Breaker {
		l.breakers.outcomes.Forget(group, of)
		return
	}
	if l.breakers.outcomes.See(group, of, settings.Window, l.Clock.Now()) {
		l.breakers.check()
	}
}

// countAll takes note of all pods, unless that was done by the rules in effect: the share of the
// workloads with reverts must not come from those pods that happen to be processed first.
func (l *Loop) countAll() {
	rules, known := l.Cluster.Rules()
	if !known || rules.Table == l.breakers.counted {
		return // While there is no table, nothing is counted.
	}
	l.eachPod(func(of *pod.Pod, workloads []workload.Workload) {
		if !of.ResizedAt().IsZero() {
			l.count(of, workloads, &rules.Table.Profile(of).Guard)
		}
	})
	l.breakers.counted = rules.Table
}

// eachPod calls a function for each pod that has workloads, which are valid until it returns.
func (l *Loop) eachPod(do func(of *pod.Pod, workloads []workload.Workload)) {
	workloads := make([]workload.Workload, 0, 4) // Few pods have more than 4.
	for _, of := range l.Cluster.Pods(metav1.NamespaceAll).List() {
		if workloads = l.Cluster.Owners().Chain(workloads[:0], of); len(workloads) > 0 {
			do(of, workloads)
		}
	}
}

// openAgainAfter is how long the leader waits after it could not open a breaker.
const openAgainAfter = 5 * time.Second

// openBreakers opens breakers until ctx is done.
func (l *Loop) openBreakers(ctx context.Context) {
	var again <-chan time.Time
	prune := l.Clock.After(pruneEvery)
	for {
		select {
		case <-l.breakers.due:
		case <-again:
		case <-prune:
			prune = l.Clock.After(pruneEvery)
			l.pruneOutcomes()
			continue
		case <-ctx.Done():
			return
		}
		again = nil
		if !l.Leads() || l.DryRun {
			continue // A process that becomes the leader checks.
		}
		table, err := l.Holds.Ready()
		if err != nil {
			again = l.Clock.After(openAgainAfter) // Nothing is sized meanwhile.
			continue
		}
		if err := l.openDue(ctx, table); err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "Breaker not opened, so sizing goes on; retrying soon")
			again = l.Clock.After(openAgainAfter)
		}
	}
}

// openDue opens all breakers that must be open, besides those in the table. One that cannot be opened
// prevents no other.
func (l *Loop) openDue(ctx context.Context, table *hold.Table) error {
	l.countAll()
	var failed []error
	for _, trip := range l.trips(table) {
		scope := scopeOf(trip.Group)
		if _, open, _ := table.Breaker(scope); open || len(scope.Faults()) > 0 {
			continue // The API server lets pods name owners that no hold can be about, since they cannot exist.
		}
		opened, err := l.Holds.Open(ctx, scope, trip.Reason, trip.Known)
		if err != nil {
			failed = append(failed, fmt.Errorf("breaker of %s: %w", scope, err))
		}
		if opened {
			klog.FromContext(ctx).Info("Breaker opened: no pod is sized there until someone resets it", "scope", scope.String(), "reason", trip.Reason)
		}
	}
	return errors.Join(failed...)
}

// trips returns which breakers must be open. Nothing counts that happened before a breaker was reset,
// or so long ago that a reset may no longer be known.
func (l *Loop) trips(table *hold.Table) []workload.Trip {
	now := l.Clock.Now()
	oldest := now.Add(-hold.ResetKept)
	l.breakers.mu.Lock()
	defer l.breakers.mu.Unlock()
	return l.breakers.outcomes.Trips(now, func(group workload.Group) time.Time {
		if _, _, reset := table.Breaker(scopeOf(group)); reset.After(oldest) {
			return reset
		}
		return oldest
	})
}

// scopeOf returns the scope of the breaker of a workload, a namespace or the cluster.
func scopeOf(group workload.Group) hold.Scope {
	return hold.Scope{Namespace: group.Namespace, Workload: group.Workload}
}

// pruneOutcomes drops what came of the resizes of workloads that no longer exist.
func (l *Loop) pruneOutcomes() {
	exist := map[workload.Group]struct{}{}
	l.eachPod(func(of *pod.Pod, workloads []workload.Workload) { exist[workload.TopOf(of, workloads)] = struct{}{} })
	l.breakers.mu.Lock()
	defer l.breakers.mu.Unlock()
	l.breakers.outcomes.Prune(l.Clock.Now(), func(group workload.Group) bool {
		_, ok := exist[group]
		return ok
	})
}

// breakerCollector exposes the open breakers.
type breakerCollector struct {
	holds func() (*hold.Table, error)
	open  *prometheus.Desc
}

func newBreakerCollector(holds func() (*hold.Table, error)) *breakerCollector {
	return &breakerCollector{holds, prometheus.NewDesc("workload_resizer_open_breakers",
		"Breakers that are open, by scope (cluster, namespace, workload): no pod is sized there until someone resets them.", []string{"scope"}, nil)}
}

// Describe implements prometheus.Collector.
func (c *breakerCollector) Describe(descs chan<- *prometheus.Desc) { descs <- c.open }

// Collect implements prometheus.Collector.
func (c *breakerCollector) Collect(metrics chan<- prometheus.Metric) {
	table, err := c.holds()
	if err != nil {
		return // The metric about the health of the holds says so.
	}
	ofCluster, ofNamespaces, ofWorkloads := table.Breakers()
	whole := 0
	if ofCluster != nil {
		whole = 1
	}
	metrics <- prometheus.MustNewConstMetric(c.open, prometheus.GaugeValue, float64(whole), "cluster")
	metrics <- prometheus.MustNewConstMetric(c.open, prometheus.GaugeValue, float64(ofNamespaces), "namespace")
	metrics <- prometheus.MustNewConstMetric(c.open, prometheus.GaugeValue, float64(ofWorkloads), "workload")
}
