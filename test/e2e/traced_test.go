package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func (o *observed) traces(t *testing.T) {
	var ours map[string][]*tracev1.Span
	localcluster.Eventually(t, "a trace of each pod that was written or has an event", func() error {
		ours = map[string][]*tracev1.Span{}
		for _, spans := range o.collector.traces() {
			for _, span := range spans {
				if span.GetName() == "reconcile pod" {
					ours[attribute(span, "k8s.pod.name")+" "+attribute(span, "workload_resizer.reason")] = spans
				}
			}
		}
		for nodeType, count := range observedPods {
			reason := map[string]string{"n4": "Resized", "n2d": "AlreadyAligned", "x9": "UnknownNodeType"}[nodeType]
			for i := range count {
				if of := fmt.Sprintf("%s-%d %s", nodeType, i, reason); ours[of] == nil {
					return fmt.Errorf("there is no trace of %s; there are %q", of, slices.Sorted(maps.Keys(ours)))
				}
			}
		}
		return nil
	})
	spans := ours["n4-0 Resized"]
	var root *tracev1.Span
	names := []string{}
	for _, span := range spans {
		if span.GetName() == "reconcile pod" {
			root = span
		}
	}
	slices.SortFunc(spans, func(a, b *tracev1.Span) int { return int(a.GetStartTimeUnixNano()) - int(b.GetStartTimeUnixNano()) })
	for _, span := range spans {
		names = append(names, span.GetName())
		if span != root && string(span.GetParentSpanId()) != string(root.GetSpanId()) {
			t.Errorf("%s is not below the root", span.GetName())
		}
		if span.GetStartTimeUnixNano() < root.GetStartTimeUnixNano() || span.GetEndTimeUnixNano() > root.GetEndTimeUnixNano() {
			t.Errorf("%s is not within the root", span.GetName())
		}
	}
	if diff := cmp.Diff([]string{"reconcile pod", "plan", "write originals", "write resize", "write applied"}, names); diff != "" {
		t.Errorf("spans: %s", diff)
	}
	for key, want := range map[string]string{"k8s.namespace.name": "default", "k8s.node.name": "n4", "workload_resizer.node_type": "n4", "workload_resizer.decision": "resize"} {
		if got := attribute(root, key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if events := root.GetEvents(); len(events) != 1 || events[0].GetName() != "Resized" {
		t.Errorf("events %v", events)
	}
}

func TestTraced(t *testing.T) {
	t.Parallel()
	t.Run("an unreachable collector does no harm", anUnreachableCollectorDoesNoHarm)
}

// anUnreachableCollectorDoesNoHarm: only the traces are lost.
func anUnreachableCollectorDoesNoHarm(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	nobody, err := localcluster.FreeAddress("")
	if err != nil {
		t.Fatal(err)
	}
	log := &journal{}
	s := localcluster.ServerForTest(t, localcluster.ServerOptions{Kubeconfig: p.serviceAccount(t), Log: log, Args: append([]string{
		"--tracing-endpoint", nobody, "--tracing-insecure",
	}, ownedByConfigMaps...)})
	if err := p.create(t.Context(), "web", "n4"); err != nil {
		t.Fatal(err)
	}
	localcluster.Eventually(t, "the pod to be resized", func() error {
		if len(log.lines("Pod resized")) == 0 {
			return errors.New("it is not resized")
		}
		return nil
	})
	// This fails if the server takes longer than allowed.
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	if lines := log.lines("Traces not sent"); len(lines) != 1 {
		t.Errorf("the log has %q", lines)
	}
}

// collector receives traces.
type collector struct {
	collectorv1.UnimplementedTraceServiceServer
	address string

	mu    sync.Mutex
	spans []*tracev1.Span
}

// newCollector returns a collector that listens until the test ends.
func newCollector(t *testing.T) *collector {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &collector{address: listener.Addr().String()}
	s := grpc.NewServer()
	collectorv1.RegisterTraceServiceServer(s, c)
	served := make(chan error, 1)
	go func() { served <- s.Serve(listener) }()
	t.Cleanup(func() {
		s.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return c
}

// Export implements the collector's service.
func (c *collector) Export(_ context.Context, request *collectorv1.ExportTraceServiceRequest) (*collectorv1.ExportTraceServiceResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range request.GetResourceSpans() {
		for _, scope := range of.GetScopeSpans() {
			c.spans = append(c.spans, scope.GetSpans()...)
		}
	}
	return &collectorv1.ExportTraceServiceResponse{}, nil
}

// traces returns the spans by trace.
func (c *collector) traces() map[string][]*tracev1.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	traces := map[string][]*tracev1.Span{}
	for _, span := range c.spans {
		traces[string(span.GetTraceId())] = append(traces[string(span.GetTraceId())], span)
	}
	return traces
}

// attribute returns an attribute of a span, "" if there is none.
func attribute(span *tracev1.Span, key string) string {
	for _, a := range span.GetAttributes() {
		if a.GetKey() == key {
			return a.GetValue().GetStringValue()
		}
	}
	return ""
}
