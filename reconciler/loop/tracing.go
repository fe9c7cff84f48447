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

// visit is a worker's turn with one pod, as a trace tells it: one span from when
// the pod was queued, with the plan and each write below it. It begins to be
// traced only when the pod is written to, or people are told of it: most turns
// find that there is nothing to do. A nil visit is not traced, at no cost.
type visit struct {
	tracer                 trace.Tracer
	queued, began, planned time.Time
	// span is nil until there is something to tell.
	span trace.Span
}

type visitKey struct{}

// begin returns the visit that began with a pod that was queued, and a context that
// has it; nil where nothing is traced.
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

// hasPlan takes note of when the plan was made.
func (t *visit) hasPlan(at time.Time) {
	if t != nil {
		t.planned = at
	}
}

// trace has the visit traced from here on, and returns the context of what is done
// in it.
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

// tell adds to the trace what people are told.
func (t *visit) tell(ctx context.Context, p *plan.Plan, said plan.Reason) {
	if t == nil || said.Code.Severity() == contract.Silent {
		return
	}
	t.trace(ctx, p)
	t.span.AddEvent(string(said.Code), trace.WithAttributes(attribute.String("message", said.Message)))
	t.span.SetAttributes(attribute.String("workload_resizer.reason", string(said.Code)))
}

// failed says in the trace why the plan was not carried out.
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
