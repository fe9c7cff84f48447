package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/spf13/pflag"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"golang.org/x/time/rate"
	"k8s.io/klog/v2"
)

const (
	// exportTimeout bounds the export of one batch of spans. Spans created meanwhile
	// are kept up to the SDK's limit, and dropped beyond it.
	exportTimeout = 10 * time.Second
	// lastSpans is how long the process waits at its end for spans to be sent.
	lastSpans = 3 * time.Second
)

// tracingOptions are the flags of tracing.
type tracingOptions struct {
	endpoint    string
	insecure    bool
	sampleRatio float64
}

func (o *tracingOptions) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&o.endpoint, "tracing-endpoint", "", "host:port of the collector to send traces to (OTLP over gRPC); empty sends none")
	flags.BoolVar(&o.insecure, "tracing-insecure", false, "send traces without encryption")
	flags.Float64Var(&o.sampleRatio, "tracing-sample-ratio", 1, "fraction of the traces to keep, from 0 to 1")
}

func (o *tracingOptions) validate(reject func(flag, format string, args ...any)) {
	if !(o.sampleRatio >= 0 && o.sampleRatio <= 1) {
		reject("tracing-sample-ratio", "must be from 0 to 1, not %v", o.sampleRatio)
	}
	if o.endpoint == "" {
		if o.insecure {
			reject("tracing-insecure", "requires --tracing-endpoint, the address of the collector")
		}
		return
	}
	if host, port, err := net.SplitHostPort(o.endpoint); err != nil || host == "" || port == "" {
		reject("tracing-endpoint", "%q is not host:port, e.g. collector.monitoring:4317", o.endpoint)
	}
}

// newTraces returns the tracer provider, or nil without an endpoint. Nothing ever waits
// for the collector, which may come and go.
func newTraces(ctx context.Context, o *tracingOptions, replica string) (*sdktrace.TracerProvider, error) {
	if o.endpoint == "" {
		return nil, nil
	}
	options := []otlptracegrpc.Option{otlptracegrpc.WithEndpoint(o.endpoint), otlptracegrpc.WithTimeout(exportTimeout)}
	if o.insecure {
		options = append(options, otlptracegrpc.WithInsecure())
	}
	exporter, err := otlptracegrpc.New(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("--tracing-endpoint: %w", err)
	}
	otel.SetErrorHandler(calmly(klog.FromContext(ctx), o.endpoint))
	return sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter, sdktrace.WithExportTimeout(exportTimeout)),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(o.sampleRatio))),
		sdktrace.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "workload-resizer"),
			attribute.String("service.version", build.Version),
			attribute.String("service.instance.id", replica),
		)),
	), nil
}

// calmly logs tracing errors at most once a minute: without a collector, the same error
// occurs every few seconds.
func calmly(logger klog.Logger, endpoint string) otel.ErrorHandlerFunc {
	now := rate.Sometimes{First: 1, Interval: time.Minute}
	return func(err error) {
		now.Do(func() {
			logger.Info("Traces not sent; some may be lost; nothing else depends on them", "endpoint", endpoint, "err", err.Error())
		})
	}
}

// endTraces sends the remaining spans, for a limited time.
func endTraces(traces *sdktrace.TracerProvider) {
	if traces == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastSpans)
	defer cancel()
	if err := traces.Shutdown(ctx); err != nil {
		otel.Handle(err)
	}
}
