package actuate

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	otelcodes "go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

// TracerName is the name of the tracer.
const TracerName = "github.com/workload-resizer/workload-resizer/reconciler"

// startWrite starts the span of a write, as a child of the current span, and returns a
// function that ends it.
func startWrite(ctx context.Context, s plan.Step, pod types.NamespacedName) (context.Context, func(resourceVersion string, err error)) {
	above := trace.SpanFromContext(ctx)
	if !above.IsRecording() {
		return ctx, func(string, error) {}
	}
	ctx, span := above.TracerProvider().Tracer(TracerName).Start(ctx, "write "+string(s), trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("workload_resizer.step", string(s)),
		attribute.String("k8s.namespace.name", pod.Namespace),
		attribute.String("k8s.pod.name", pod.Name),
	))
	return ctx, func(resourceVersion string, err error) {
		span.SetAttributes(attribute.Int("http.response.status_code", StatusCode(err)))
		if err != nil {
			span.RecordError(err)
			span.SetStatus(otelcodes.Error, err.Error())
		} else {
			span.SetAttributes(attribute.String("k8s.pod.resource_version", resourceVersion))
		}
		span.End()
	}
}
