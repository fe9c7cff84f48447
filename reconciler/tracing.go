package reconciler

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	otelcodes "go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// tracerName is who makes the spans.
const tracerName = "github.com/workload-resizer/workload-resizer/reconciler"

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
func (r *Reconciler) begin(ctx context.Context, queued time.Time) (context.Context, *visit) {
	if r.Traces == nil {
		return ctx, nil
	}
	t := &visit{tracer: r.Traces.Tracer(tracerName), queued: queued, began: r.clock.Now()}
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
func (t *visit) trace(ctx context.Context, plan *Plan) context.Context {
	if t == nil {
		return ctx
	}
	if t.span != nil {
		return trace.ContextWithSpan(ctx, t.span)
	}
	ctx, t.span = t.tracer.Start(ctx, "reconcile pod", trace.WithNewRoot(), trace.WithTimestamp(t.queued), trace.WithAttributes(
		attribute.String("k8s.namespace.name", plan.Pod.Namespace),
		attribute.String("k8s.pod.name", plan.Pod.Name),
		attribute.String("k8s.pod.uid", string(plan.UID)),
		attribute.String("k8s.node.name", plan.Node),
		attribute.String("workload_resizer.node_type", plan.NodeType),
		attribute.String("workload_resizer.decision", plan.Decision.String()),
		attribute.String("workload_resizer.ratio_revision", plan.Revision),
	))
	_, planning := t.tracer.Start(ctx, "plan", trace.WithTimestamp(t.began))
	planning.End(trace.WithTimestamp(t.planned))
	return ctx
}

// tell adds to the trace what people are told.
func (t *visit) tell(ctx context.Context, plan *Plan, said Reason) {
	if t == nil || said.Code.Severity() == contract.Silent {
		return
	}
	t.trace(ctx, plan)
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

// startWrite begins the span of a write, below whatever is traced, and returns
// what ends it.
func startWrite(ctx context.Context, s Step, pod types.NamespacedName) (context.Context, func(resourceVersion string, err error)) {
	above := trace.SpanFromContext(ctx)
	if !above.IsRecording() {
		return ctx, func(string, error) {}
	}
	ctx, span := above.TracerProvider().Tracer(tracerName).Start(ctx, "write "+string(s), trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("workload_resizer.step", string(s)),
		attribute.String("k8s.namespace.name", pod.Namespace),
		attribute.String("k8s.pod.name", pod.Name),
	))
	return ctx, func(resourceVersion string, err error) {
		span.SetAttributes(attribute.Int("http.response.status_code", statusCode(err)))
		if err != nil {
			span.RecordError(err)
			span.SetStatus(otelcodes.Error, err.Error())
		} else {
			span.SetAttributes(attribute.String("k8s.pod.resource_version", resourceVersion))
		}
		span.End()
	}
}
