package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/test/metriclabels"
)

// observed is a server on a plane, with its log and its traces.
type observed struct {
	*plane
	server    *localcluster.Server
	log       *journal
	collector *collector
}

// unanswered is in a line of the log for each call that the API server did not answer in time, as on a busy machine.
const unanswered = `"msg":"No response from the API server"`

// The pods of the test, by node type.
var observedPods = map[string]int{"n4": 20, "n2d": 5, "x9": 3}

func TestObserved(t *testing.T) {
	t.Parallel()
	t.Run("a server reports its work", aServerReportsItsWork)
}

// aServerReportsItsWork runs a server with all means of observation.
func aServerReportsItsWork(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	o := &observed{plane: p, log: &journal{}, collector: newCollector(t)}
	o.server = localcluster.ServerForTest(t, localcluster.ServerOptions{Kubeconfig: p.serviceAccount(t), Log: o.log, Args: append([]string{
		"--log-format", "json", "--tracing-endpoint", o.collector.address, "--tracing-insecure",
		"--leader-lease-duration", "60s", // A busy machine may stall: each term of a leader counts by itself.
	}, ownedByConfigMaps...)})
	for nodeType, count := range observedPods {
		for i := range count {
			if err := p.create(t.Context(), fmt.Sprintf("%s-%d", nodeType, i), nodeType); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Pods on n4 are resized, pods on n2d are right as written, and pods on x9 are
	// skipped.
	localcluster.Eventually(t, "pods to be resized", func() error {
		if lines := o.log.lines(`"msg":"Pod resized"`); len(lines) < observedPods["n4"] {
			return fmt.Errorf("%d are", len(lines))
		}
		return nil
	})
	t.Run("metrics agree with plans", o.metricsAgree)
	t.Run("labels have few values", o.labelsAreClosed)
	t.Run("the log has one line for each resized pod", o.oneLineEach)
	t.Run("a trace follows a pod from the queue to its last write", o.traces)
}

func (o *observed) metricsAgree(t *testing.T) {
	api, err := client.Dial(o.server.GRPCAddress)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = api.Close() })
	s := &server{Server: o.server, api: api}
	localcluster.Eventually(t, "metrics to agree with plans", func() error {
		freed := resourceSum{}
		for _, plan := range s.plans(t, metav1.NamespaceDefault) {
			for _, c := range plan.GetContainers() {
				freed.add(t, c.GetOriginal().GetRequests(), c.GetCurrent().GetRequests())
			}
		}
		families, err := o.server.Metrics(t.Context())
		if err != nil {
			return err
		}
		n4 := float64(observedPods["n4"])
		var errs []error
		for _, want := range []struct {
			name   string
			labels prometheus.Labels
			value  float64
		}{
			{"workload_resizer_resizes_total", prometheus.Labels{"result": "resized", "reason": ""}, n4},
			{"workload_resizer_resizes_total", prometheus.Labels{"result": "failed"}, float64(len(o.log.lines(unanswered)))},
			{"workload_resizer_settle_seconds", nil, n4},
			{"workload_resizer_api_write_seconds", prometheus.Labels{"step": "resize"}, n4},
			{"workload_resizer_requested_change_cores", prometheus.Labels{"direction": "freed"}, freed.cores},
			{"workload_resizer_requested_change_cores", prometheus.Labels{"direction": "freed"}, n4 * 0.2},
			{"workload_resizer_requested_change_cores", prometheus.Labels{"direction": "added"}, 0},
			{"workload_resizer_requested_change_bytes", prometheus.Labels{"direction": "freed"}, freed.bytes},
			{"workload_resizer_ratio", prometheus.Labels{"node_type": "n4", "resource": "cpu", "source": "configmap"}, 1.25},
			{"workload_resizer_queue_depth", nil, 0},
			{"workload_resizer_leading", nil, 1},
		} {
			got, err := families.Sum(want.name, want.labels)
			if err == nil && (got < want.value-1e-9 || got > want.value+1e-9) {
				err = fmt.Errorf("%s with %v is %v, want %v", want.name, want.labels, got, want.value)
			}
			errs = append(errs, err)
		}
		for _, name := range []string{"workload_resizer_plan_seconds", "workload_resizer_queue_seconds"} {
			if seen, err := families.Sum(name, nil); err != nil || seen < n4 {
				errs = append(errs, fmt.Errorf("%s has seen %v pods, %w", name, seen, err))
			}
		}
		return errors.Join(errs...)
	})
}

// labelsAreClosed checks that no label of the server's metrics can grow with the cluster.
func (o *observed) labelsAreClosed(t *testing.T) {
	families, err := o.server.Metrics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	closed := metriclabels.Values("n2d", "n4") // The types in the table; only a node has x9.
	for name, family := range families {
		if !strings.HasPrefix(name, "workload_resizer_") {
			continue
		}
		for _, m := range family.GetMetric() {
			for _, l := range m.GetLabel() {
				if !slices.Contains(closed[l.GetName()], l.GetValue()) {
					t.Errorf("%s has the label %s=%q", name, l.GetName(), l.GetValue())
				}
			}
		}
	}
}

// resourceSum is the amount by which requests are below their originals.
type resourceSum struct{ cores, bytes float64 }

func (s *resourceSum) add(t *testing.T, original, current map[string]string) {
	t.Helper()
	difference := func(name string) float64 {
		from, err := resource.ParseQuantity(original[name])
		if err != nil {
			t.Fatal(err)
		}
		to, err := resource.ParseQuantity(current[name])
		if err != nil {
			t.Fatal(err)
		}
		from.Sub(to)
		return from.AsApproximateFloat64()
	}
	s.cores += difference("cpu")
	s.bytes += difference("memory")
}

func (o *observed) oneLineEach(t *testing.T) {
	got := map[string]int{}
	for _, line := range o.log.lines(`"msg":"Pod resized"`) {
		got[podOf(t, line)]++
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"uid", "patchMillis"} {
			if fields[key] == nil || fields[key] == "" {
				t.Errorf("%s has no %s", line, key)
			}
			delete(fields, key)
		}
		delete(fields, "pod")
		delete(fields, "time")
		if diff := cmp.Diff(map[string]any{
			"level": "INFO", "msg": "Pod resized", "node": "n4", "nodeType": "n4", "baseline": "n2d",
			"containers": "app: cpu 1 → 800m, memory 1Gi", "reasons": []any{"Resized"},
		}, fields); diff != "" {
			t.Errorf("line: %s", diff)
		}
	}
	want := map[string]int{}
	for i := range observedPods["n4"] {
		want[fmt.Sprintf("default/n4-%d", i)] = 1
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines: %s", diff)
	}
	for pod := range want {
		lines := slices.DeleteFunc(o.log.lines(`"`+strings.TrimPrefix(pod, "default/")+`"`), func(line string) bool { return strings.Contains(line, unanswered) })
		if len(lines) != 1 {
			t.Errorf("%d lines about %s: %q", len(lines), pod, lines)
		}
	}
}

// podOf returns NAMESPACE/NAME of the pod that a line is about.
func podOf(t *testing.T, line string) string {
	t.Helper()
	var said struct {
		Pod struct{ Namespace, Name string }
	}
	if err := json.Unmarshal([]byte(line), &said); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return said.Pod.Namespace + "/" + said.Pod.Name
}
