package vpastatus

import (
	"context"
	"fmt"

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
	// failed are the last errors in the log: a right may be missing for days.
	failed map[types.UID]string
	writes *prometheus.CounterVec
}

// New returns a writer.
func New(config Config) *Writer {
	w := &Writer{
		Config: config, limiter: flowcontrol.NewTokenBucketRateLimiter(Rate, burst), failed: map[types.UID]string{},
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
			w.writeAll(ctx)
		}
	}
}

// writeAll writes the statuses that have changed. Each round includes all objects, so that none waits forever for others.
func (w *Writer) writeAll(ctx context.Context) {
	failed := map[types.UID]string{}
	for _, of := range w.Demands.Statuses() {
		if !w.Demands.Collects() {
			return
		}
		status := of.Object.StatusFor(&of.Found, w.Clock.Now())
		if !status.Differs(&of.Object.Status) {
			continue
		}
		if w.limiter.Wait(ctx) != nil {
			return
		}
		err := w.write(ctx, of.Object, &status)
		if err == nil {
			w.writes.WithLabelValues("written").Inc()
			continue
		}
		w.writes.WithLabelValues("failed").Inc()
		if text := err.Error(); w.failed[of.Object.UID()] != text {
			klog.FromContext(ctx).Error(err, "Status not written; retrying", "verticalPodAutoscaler", klog.KRef(of.Object.Namespace(), of.Object.Name()))
		}
		failed[of.Object.UID()] = err.Error()
	}
	w.failed = failed
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
