package loop

import (
	"context"
	"time"

	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

// tellIgnored reports annotations that contradict the spec. The first write of the plan corrects them, and if another one fails, no
// later plan knows what they said.
func (l *Loop) tellIgnored(ctx context.Context, p *plan.Plan) {
	for _, reason := range p.Reasons {
		if reason.Code == contract.AnnotationIgnored && l.ledger.ignores(p.Pod, p.UID, reason) {
			l.announce(ctx, p, reason)
		}
	}
}

// written reports an executed plan: in one log message, regardless of the number of
// reasons.
func (l *Loop) written(ctx context.Context, p *plan.Plan, took time.Duration) {
	said := p.Outcome()
	logger := l.loggerOf(ctx, p)
	if demands := p.Demands(); demands != "" {
		logger = logger.WithValues("demandFromUsage", demands)
	}
	logger.Info(p.Deed(said), "containers", p.Describe(), "baseline", p.Baseline, "reasons", codesOf(said), "patchMillis", took.Milliseconds())
	for _, harm := range p.Harms() {
		l.metrics.reverts.WithLabelValues(string(harm)).Inc()
	}
	var news []plan.Reason
	for _, reason := range said {
		if reason.Code == contract.AnnotationIgnored {
			continue // It was told before.
		}
		if p.Kind != plan.RevertRefused && reason.Code != contract.RevertBlocked || l.ledger.news(p.Pod, p.UID, reason) {
			l.announce(ctx, p, reason)
			news = append(news, reason)
		}
	}
	if l.Wrote != nil {
		l.Wrote(p, news)
	}
}

func codesOf(said []plan.Reason) []contract.Reason {
	codes := make([]contract.Reason, len(said))
	for i := range said {
		codes[i] = said[i].Code
	}
	return codes
}

// announce reports a reason for a pod in metrics, an event and the trace, but not in the
// log.
func (l *Loop) announce(ctx context.Context, p *plan.Plan, said plan.Reason) {
	l.metrics.outcome(said.Code)
	visitOf(ctx).tell(ctx, p, said)
	l.Events.Pod(p.Pod, p.UID, said)
}

// loggerOf returns a logger with the values that every log message about a pod has.
func (l *Loop) loggerOf(ctx context.Context, p *plan.Plan) klog.Logger {
	return klog.FromContext(ctx).WithValues("pod", p.Pod, "uid", p.UID, "node", p.Node, "nodeType", p.NodeType)
}
