package loop

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

// freed counts what paced resizes have freed within the last hour. Autoscalers remove nodes that become
// empty, and a wrong ratio could empty a cluster within minutes.
//
// It counts minutes, and each for a full hour. A bucket that refills all the time would be simpler, but
// would allow twice as much in its first hour: all that it has in the beginning, and all that it gets.
type freed struct {
	// allocatable returns what all nodes have for pods; zero if that is not known.
	allocatable func() node.Resources
	// known means that the minutes have what was freed before this process began to count.
	known bool
	// minutes has what was freed in a minute, at its number since 1970 modulo their count, and minute is
	// the number of the last one. sum is the sum of all.
	minutes [61]node.Resources
	minute  int64
	sum     node.Resources
	// underWay is what pods free whose turn has begun.
	underWay node.Resources
	// by counts the same for each namespace alone.
	by map[string]*freed
	// total is the last answer of allocatable, at a time.
	total   node.Resources
	totalAt time.Time
}

// totalFor is how long the sum of all nodes is used.
const totalFor = 10 * time.Second

// fits reports whether a resize that frees this much stays within the share for an hour. One that frees
// more than that fits once nothing was freed for an hour. A share of 0 means no limit.
func (f *freed) fits(frees node.Resources, share float64, now time.Time) bool {
	if share == 0 || frees == (node.Resources{}) {
		return true
	}
	f.advance(now)
	if !f.known {
		return false
	}
	return f.within(f.sum, frees, share, now)
}

// within reports whether a resize that frees this much stays within the share if counted was freed before.
func (f *freed) within(counted, frees node.Resources, share float64, now time.Time) bool {
	total := f.of(now)
	within := func(has, more, total int64) bool {
		return more == 0 || has == 0 || total == 0 || float64(has+more) <= share*float64(total)
	}
	return within(counted.CPU+f.underWay.CPU, frees.CPU, total.CPU) && within(counted.Memory+f.underWay.Memory, frees.Memory, total.Memory)
}

// fair reports whether a resize leaves the other half of the share to other namespaces.
func (f *freed) fair(t *turn, share float64, now time.Time) bool {
	own := f.by[t.pod.Namespace]
	if share == 0 || own == nil {
		return true
	}
	own.advance(now)
	own.total, own.totalAt = f.of(now), now
	return own.within(own.sum, t.frees, share/2, now)
}

// fitsAt returns when a resize that does not fit may fit at the earliest: minutes stop counting one after
// the other. It returns zero if it is not known what was freed.
func (f *freed) fitsAt(frees node.Resources, share float64, now time.Time) time.Time {
	f.advance(now)
	if !f.known {
		return time.Time{}
	}
	counted, n := f.sum, int64(len(f.minutes))
	minute := max(0, f.minute-n+1)
	for ; minute < f.minute; minute++ {
		gone := f.minutes[minute%n]
		counted = counted.Minus(gone)
		if gone != (node.Resources{}) && f.within(counted, frees, share, now) {
			break
		}
	}
	return time.Unix((minute+n)*60, 0)
}

// of returns what all nodes have for pods.
func (f *freed) of(now time.Time) node.Resources {
	if since := now.Sub(f.totalAt); f.allocatable != nil && (since >= totalFor || since < 0) {
		f.total, f.totalAt = f.allocatable(), now
	}
	return f.total
}

// hold lets a turn hold what its resize will free, instead of what it held before.
func (f *freed) hold(t *turn, frees node.Resources) {
	if own := f.own(t.pod.Namespace); own != nil {
		own.underWay = own.underWay.Minus(t.holds).AtLeast(node.Resources{}).Plus(frees) // It may have been forgotten.
	}
	f.underWay, t.holds = f.underWay.Minus(t.holds).Plus(frees), frees
}

// own returns the count of a namespace; nil for a count of a namespace alone.
func (f *freed) own(namespace string) *freed {
	if f.by == nil {
		return nil
	}
	own := f.by[namespace]
	if own == nil {
		if len(f.by) >= mostLast {
			clear(f.by)
		}
		own = &freed{minute: f.minute}
		f.by[namespace] = own
	}
	return own
}

// spend counts what a turn holds.
func (f *freed) spend(t *turn, now time.Time) {
	f.advance(now)
	f.add(t.holds, now)
	if own := f.own(t.pod.Namespace); own != nil {
		own.advance(now)
		own.add(t.holds, now)
	}
	f.hold(t, node.Resources{})
}

// add counts what was freed at a time, unless that is more than an hour ago.
func (f *freed) add(frees node.Resources, at time.Time) {
	minute := min(minuteOf(at), f.minute)
	if f.minute-minute >= int64(len(f.minutes)) {
		return
	}
	in := &f.minutes[minute%int64(len(f.minutes))]
	*in, f.sum = in.Plus(frees), f.sum.Plus(frees)
}

// advance drops the minutes that are more than an hour ago.
func (f *freed) advance(now time.Time) {
	for last := minuteOf(now); f.minute < last; {
		f.minute = max(f.minute+1, last-int64(len(f.minutes))+1)
		gone := &f.minutes[f.minute%int64(len(f.minutes))]
		f.sum, *gone = f.sum.Minus(*gone), node.Resources{}
	}
}

// next returns the time until there may be more room.
func (f *freed) next(now time.Time) time.Duration {
	return now.Truncate(time.Minute).Add(time.Minute).Sub(now)
}

// forget drops what was counted: what others freed, or will free, is not known.
func (f *freed) forget() {
	*f = freed{allocatable: f.allocatable, underWay: f.underWay, by: map[string]*freed{}}
}

func minuteOf(at time.Time) int64 { return at.Unix() / 60 }

// resizedBefore is what the last resize of a pod freed, and when.
type resizedBefore struct {
	freed node.Resources
	at    time.Time
}

// recall returns what resizes within the last hour freed, as the pods say. Another replica may have
// led until now, and a restart must not begin a new hour.
//
// On a node, pods cannot have freed more than all of it. Annotations that claim more, which users may have
// forged, must not stop the resizes of others for an hour.
func (l *Loop) recall() (all []resizedBefore) {
	oldest, left := l.Clock.Now().Add(-time.Hour), map[string]node.Resources{}
	for _, of := range l.Cluster.Pods(metav1.NamespaceAll).List() {
		at := of.ResizedAt()
		if at.Before(oldest) || at.Sub(of.StartedAt()) < plan.NewFor {
			continue
		}
		has, known := left[of.Node()]
		if !known {
			has = node.Allocatable(l.Cluster.Node(of))
		}
		freed := guard.Freed(of).AtMost(has)
		left[of.Node()] = has.Minus(freed)
		if freed != (node.Resources{}) {
			all = append(all, resizedBefore{freed, at})
		}
	}
	return all
}

// allocatable returns what all nodes have for pods.
func (l *Loop) allocatable() (total node.Resources) {
	for _, of := range l.Cluster.Nodes() {
		total = total.Plus(node.Allocatable(of))
	}
	return total
}

// freedCollector exposes what paced resizes have freed within the last hour.
type freedCollector struct {
	shares func() (cpu, memory float64)
	desc   *prometheus.Desc
}

func newFreedCollector(shares func() (cpu, memory float64)) *freedCollector {
	return &freedCollector{shares, prometheus.NewDesc("workload_resizer_freed_share",
		"The share of all allocatable cpu or memory (resource: cpu, memory) that paced resizes have freed within the last hour. pace.freedPerHour limits it. Only the leader counts.", []string{"resource"}, nil)}
}

// Describe implements prometheus.Collector.
func (c *freedCollector) Describe(descs chan<- *prometheus.Desc) { descs <- c.desc }

// Collect implements prometheus.Collector.
func (c *freedCollector) Collect(metrics chan<- prometheus.Metric) {
	cpu, memory := c.shares()
	metrics <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, cpu, string(corev1.ResourceCPU))
	metrics <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, memory, string(corev1.ResourceMemory))
}
