package mover

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/evict"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// move judges a pod, writes down that it moves, and evicts it. If that is not possible now, it is tried again later.
func (g *glance) move(ctx context.Context, c *candidate) {
	logger := klog.FromContext(ctx).WithValues("pod", c.of.NamespacedName(), "uid", c.UID, "node", c.Node, "reason", c.Reason)
	if err := g.Loop.PermitEviction(ctx, c.of); err != nil && !g.DryRun {
		g.postpone(c.UID, notPermitted(err))
		return
	}
	live, why, fits, err := g.judge(ctx, c)
	switch {
	case errors.Is(err, errGone):
		return
	case err != nil:
		if apierrors.IsForbidden(err) { // To read is not subject to admission.
			g.fails(place{errUnjudged, string(c.UID)}, errUnjudged)
		}
		logger.Error(err, "Pod not evicted, because it is not known where it could go; retrying later")
		g.postpone(c.UID, "it is not known where it could go: "+err.Error())
		return
	}
	g.works(place{errUnjudged, string(c.UID)})
	if why != "" {
		logger.V(1).Info("Pod not evicted", "why", why)
		g.postpone(c.UID, why)
		return
	}
	g.now = g.Clock.Now() // Those before it may have taken long.
	var entry *evict.Entry
	if err := g.change(ctx, func(b *evict.Book) bool {
		entry = b.Decide(g.now, &c.Candidate, g.mostPerHour(), g.inProgress, g.moving)
		return entry != nil
	}); err != nil {
		g.unstored(ctx, err)
		g.postpone(c.UID, "the decision cannot be stored: "+err.Error())
		return
	}
	if entry == nil {
		g.postpone(c.UID, "other evictions come first")
		return
	}
	g.evict(klog.NewContext(ctx, logger), c, entry.At, live, fits)
}

// notPermitted says to users why a pod may not be evicted now.
func notPermitted(err error) string {
	if stopped := (*actuate.StoppedError)(nil); errors.As(err, &stopped) {
		return stopped.Because
	}
	return err.Error()
}

// evict evicts a pod whose entry is stored, with this time.
func (g *glance) evict(ctx context.Context, c *candidate, at time.Time, live *corev1.Pod, fits []string) {
	logger := klog.FromContext(ctx)
	said := fmt.Sprintf("%s; %s has room for it", c.message, fits[0])
	if len(fits) > 1 {
		said = fmt.Sprintf("%s; %s has room for it, as one of %d nodes", c.message, fits[0], len(fits))
	}
	if g.DryRun {
		if tries := g.postpone(c.UID, "it would be evicted, but the server runs with --dry-run"); tries == 0 {
			logger.Info("Dry run, pod not evicted", "why", said)
		}
		return
	}
	g.leaving[c.UID] = leaving{at: at, requests: c.requests}
	err := g.Evict(ctx, live, func(ctx context.Context) error { return g.Loop.PermitEviction(ctx, c.of) })
	g.scene, g.sizes = nil, map[string]map[workload.Workload]size{} // They may have changed.
	var budget *actuate.BudgetError
	var stopped *actuate.StoppedError
	switch {
	case err == nil:
		g.works(place{errRefused, c.Namespace})
		g.metrics.evictions.WithLabelValues(c.Reason, resultEvicted).Inc()
		logger.Info("Pod evicted", "why", said)
		g.Tell(types.NamespacedName{Namespace: c.Namespace, Name: c.Pod}, c.UID, plan.Reason{Code: contract.Evicted, Message: said})
		g.soon(g.now.Add(seenWithin))
		g.done(c.UID)
	case errors.As(err, &stopped):
		g.postpone(c.UID, stopped.Because)
		g.refused(ctx, c, at)
	case errors.As(err, &budget):
		g.works(place{errRefused, c.Namespace})
		g.metrics.evictions.WithLabelValues(c.Reason, resultBudget).Inc()
		logger.Info("Pod not evicted yet; trying again", "err", err.Error())
		c.budget = true
		g.keep(c, "a PodDisruptionBudget does not allow it now")
		g.askedFor(c.UID, actuate.Asked(err))
		g.refused(ctx, c, at)
	case actuate.Outdated(err):
		g.works(place{errRefused, c.Namespace})
		g.postpone(c.UID, "it has changed in the meantime")
		g.refused(ctx, c, at)
	default:
		noRight, denied, busy := actuate.MissingRight(err), actuate.Denied(err), actuate.StatusCode(err) == http.StatusTooManyRequests
		switch {
		case noRight:
			g.fails(place{errRefused, c.Namespace}, errRefused)
		case denied: // It has the right, but this pod stays.
			g.works(place{errRefused, c.Namespace})
		}
		said := "it is not known whether the API server evicts it: "
		if noRight || denied || busy {
			g.refused(ctx, c, at)
			said = "the API server does not evict it: "
		}
		g.metrics.evictions.WithLabelValues(c.Reason, resultFailed).Inc()
		logger.Error(err, "Pod not evicted; trying again")
		g.postpone(c.UID, said+err.Error())
		g.askedFor(c.UID, actuate.Asked(err))
	}
}

// refused writes down that a pod was certainly not evicted at this time: it does not count as one that was. If that cannot be
// stored, it counts.
func (g *glance) refused(ctx context.Context, c *candidate, at time.Time) {
	if !g.leads() {
		return
	}
	if err := g.change(ctx, func(b *evict.Book) bool { return b.Refuse(c.UID, at) }); err != nil {
		g.unstored(ctx, err)
	}
}
