package loop

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	otelcodes "go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

// visit is the processing of one pod by a worker in a trace: one span from when the pod was
// queued, with child spans for the plan and each write. The trace starts only when the pod
// is written or reported, because most visits have nothing to do. A nil visit is not traced
// and costs nothing.
type visit struct {
	tracer                 trace.Tracer
	queued, began, planned time.Time
	// span is nil until there is something to trace.
	span trace.Span
}

type visitKey struct{}

// begin returns the visit to a queued pod, nil if tracing is off, and a context with the
// visit.
func (l *Loop) begin(ctx context.Context, queued time.Time) (context.Context, *visit) {
	if l.Traces == nil {
		return ctx, nil
	}
	t := &visit{tracer: l.Traces.Tracer(actuate.TracerName), queued: queued, began: l.Clock.Now()}
	return context.WithValue(ctx, visitKey{}, t), t
}

func visitOf(ctx context.Context) *visit {
	t, _ := ctx.Value(visitKey{}).(*visit)
	return t
}

// hasPlan records when the plan was made.
func (t *visit) hasPlan(at time.Time) {
	if t != nil {
		t.planned = at
	}
}

// trace starts the trace of the visit if necessary, and returns a context with its span.
func (t *visit) trace(ctx context.Context, p *plan.Plan) context.Context {
	if t == nil {
		return ctx
	}
	if t.span != nil {
		return trace.ContextWithSpan(ctx, t.span)
	}
	ctx, t.span = t.tracer.Start(ctx, "reconcile pod", trace.WithNewRoot(), trace.WithTimestamp(t.queued), trace.WithAttributes(
		attribute.String("k8s.namespace.name", p.Pod.Namespace),
		attribute.String("k8s.pod.name", p.Pod.Name),
		attribute.String("k8s.pod.uid", string(p.UID)),
		attribute.String("k8s.node.name", p.Node),
		attribute.String("workload_resizer.node_type", p.NodeType),
		attribute.String("workload_resizer.decision", p.Decision.String()),
		attribute.String("workload_resizer.ratio_revision", p.Revision),
	))
	_, planning := t.tracer.Start(ctx, "plan", trace.WithTimestamp(t.began))
	planning.End(trace.WithTimestamp(t.planned))
	return ctx
}

// tell adds a reported reason to the trace.
func (t *visit) tell(ctx context.Context, p *plan.Plan, said plan.Reason) {
	if t == nil || said.Code.Severity() == contract.Silent {
		return
	}
	t.trace(ctx, p)
	t.span.AddEvent(string(said.Code), trace.WithAttributes(attribute.String("message", said.Message)))
	t.span.SetAttributes(attribute.String("workload_resizer.reason", string(said.Code)))
}

// failed records in the trace why the plan was not executed.
func (t *visit) failed(err error) {
	if t != nil && t.span != nil {
		t.span.SetStatus(otelcodes.Error, err.Error())
	}
}

func (t *visit) end() {
	if t != nil && t.span != nil {
		t.span.End()
	}
}
