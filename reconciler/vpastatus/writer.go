package vpastatus

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/reconciler/vpa"
)

// Rate is how many statuses are written per second, and burst how many in a burst.
const (
	Rate  = 5
	burst = 10
)

// Demands knows what the targets need.
type Demands interface {
	// Watch returns a channel that receives after every change.
	Watch() <-chan struct{}
	// Statuses returns what the objects should say.
	Statuses() []demand.Status
	// Collects reports whether this process leads, and knows what earlier leaders knew.
	Collects() bool
}

// Config configures a Writer. All fields must be set.
type Config struct {
	Client  dynamic.Interface
	Demands Demands
	// Metrics is where all metrics are registered.
	Metrics prometheus.Registerer
	// Clock provides the time.
	Clock clock.Clock
}

// Writer writes statuses.
type Writer struct {
	Config
	limiter flowcontrol.RateLimiter
	// turns counts the writes, and seen are the objects that were written.
	turns  uint64
	seen   map[types.UID]seen
	writes *prometheus.CounterVec
}

// seen is what a writer remembers of an object.
type seen struct {
	// turn is the number of its last write.
	turn uint64
	// failed is the last error in the log, empty after a success: a right may be missing for days.
	failed string
}

// New returns a writer.
func New(config Config) *Writer {
	w := &Writer{
		Config: config, limiter: flowcontrol.NewTokenBucketRateLimiter(Rate, burst), seen: map[types.UID]seen{},
		writes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "workload_resizer_vpa_status_writes_total",
			Help: "Writes to the status of VerticalPodAutoscalers that name workload-resizer, by result.",
		}, []string{"result"}),
	}
	config.Metrics.MustRegister(w.writes)
	return w
}

// Run writes statuses while this process leads, until ctx is done.
func (w *Writer) Run(ctx context.Context) {
	changed := w.Demands.Watch()
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
			w.writeAll(ctx, changed)
		}
	}
}

// writeAll writes the statuses that have changed, until others may have: a tenant may have thousands of objects that change
// all the time. Each round has one object of each namespace at least, those first that were written the longest ago, so
// that none waits forever for others.
func (w *Writer) writeAll(ctx context.Context, changed <-chan struct{}) {
	rounds, all := w.inTurn(w.Demands.Statuses())
	w.seen = all
	for i, round := range rounds {
		if i > 0 && len(changed) > 0 {
			return
		}
		for j := range round {
			if !w.Demands.Collects() || w.limiter.Wait(ctx) != nil {
				return
			}
			w.writeOne(ctx, &round[j])
		}
	}
}

// change is a status to write.
type change struct {
	of     *vpa.Object
	status vpa.Status
}

// inTurn returns the statuses that have changed: one of each namespace, then another one of each, and so on. It also returns
// what is known of the objects that exist.
func (w *Writer) inTurn(statuses []demand.Status) (rounds [][]change, all map[types.UID]seen) {
	all = make(map[types.UID]seen, len(statuses))
	var due []change
	for i := range statuses {
		of := &statuses[i]
		if before, known := w.seen[of.Object.UID()]; known {
			all[of.Object.UID()] = before
		}
		if status := of.Object.StatusFor(&of.Found, w.Clock.Now()); status.Differs(&of.Object.Status) {
			due = append(due, change{of.Object, status})
		}
	}
	slices.SortStableFunc(due, func(a, b change) int { return cmp.Compare(all[a.of.UID()].turn, all[b.of.UID()].turn) })
	taken := map[string]int{}
	for _, c := range due {
		n := taken[c.of.Namespace()]
		taken[c.of.Namespace()]++
		if n == len(rounds) {
			rounds = append(rounds, nil)
		}
		rounds[n] = append(rounds[n], c)
	}
	return rounds, all
}

// writeOne writes a status, and takes note of it.
func (w *Writer) writeOne(ctx context.Context, c *change) {
	w.turns++
	now := seen{turn: w.turns}
	if err := w.write(ctx, c.of, &c.status); err != nil {
		w.writes.WithLabelValues("failed").Inc()
		if now.failed = err.Error(); w.seen[c.of.UID()].failed != now.failed {
			klog.FromContext(ctx).Error(err, "Status not written; retrying", "verticalPodAutoscaler", klog.KRef(c.of.Namespace(), c.of.Name()))
		}
	} else {
		w.writes.WithLabelValues("written").Inc()
	}
	w.seen[c.of.UID()] = now
}

// write writes a status. An object that is gone needs none, and one that has changed gets another one.
func (w *Writer) write(ctx context.Context, o *vpa.Object, s *vpa.Status) error {
	patch, err := o.Patch(s)
	if err != nil {
		return fmt.Errorf("write the status of a VerticalPodAutoscaler: %w", err)
	}
	_, err = w.Client.Resource(cluster.VPAResource).Namespace(o.Namespace()).
		Patch(ctx, o.Name(), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: contract.FieldManager}, "status")
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("write the status of a VerticalPodAutoscaler: %w", err)
	}
	return nil
}
