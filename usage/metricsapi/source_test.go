package metricsapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	metrics "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	client "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"

	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/usagetest"
)

var at = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

// pod returns the metrics of a pod with containers, each with a usage such as "250m 64Mi"; "-" is
// not measured.
func pod(namespace, name string, taken time.Time, containers ...string) metrics.PodMetrics {
	p := metrics.PodMetrics{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Timestamp: metav1.NewTime(taken), Window: metav1.Duration{Duration: 15 * time.Second}}
	for _, text := range containers {
		field := strings.Fields(text)
		use := corev1.ResourceList{}
		if field[1] != "-" {
			use[corev1.ResourceCPU] = resource.MustParse(field[1])
		}
		if field[2] != "-" {
			use[corev1.ResourceMemory] = resource.MustParse(field[2])
		}
		p.Containers = append(p.Containers, metrics.ContainerMetrics{Name: field[0], Usage: use})
	}
	return p
}

// serve serves the metrics of namespaces. The namespace in down fails.
func serve(t *testing.T, pods map[string][]metrics.PodMetrics, down *atomic.Value, content rest.ContentConfig) *Source {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		namespace := strings.Split(r.URL.Path, "/")[5]
		if down.Load() == namespace {
			http.Error(w, "metrics not available", http.StatusServiceUnavailable)
			return
		}
		if strings.Contains(r.Header.Get("Accept"), "protobuf") {
			_, _ = w.Write(encoded(t, pods[namespace]...))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		list := metrics.PodMetricsList{TypeMeta: metav1.TypeMeta{Kind: "PodMetricsList", APIVersion: "metrics.k8s.io/v1beta1"}, Items: pods[namespace]}
		if err := json.NewEncoder(w).Encode(list); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	c, err := client.NewForConfig(&rest.Config{Host: server.URL, QPS: -1, ContentConfig: content})
	if err != nil {
		t.Fatal(err)
	}
	return &Source{Client: c, Namespaces: func() []string { return []string{"lab", "shop"} }}
}

var inProtobuf = rest.ContentConfig{ContentType: "application/vnd.kubernetes.protobuf"}

func sample(namespace, name, container string, resource history.Resource, taken time.Time, value int64) usage.Sample {
	s := usage.Sample{Namespace: namespace, Name: name, Container: container}
	s.Resource, s.At, s.Usage = resource, taken, value
	if resource == history.CPU {
		s.Length = 15 * time.Second
	}
	return s
}

func TestSource(t *testing.T) {
	pods := map[string][]metrics.PodMetrics{
		"lab": {pod("lab", "a", at, "main 250m 64Mi", "idle - 1Mi")},
		"shop": {
			pod("shop", "b", at.Add(time.Second), "main 1500001n 2Gi"),
			pod("shop", "unmeasured", at.Add(time.Second), "main - -"),
		},
	}
	exactly := func(cores float64, s usage.Sample) usage.Sample {
		s.Cores = cores
		return s
	}
	want := []usage.Sample{
		exactly(0.25, sample("lab", "a", "main", history.CPU, at, 250)), sample("lab", "a", "main", history.Memory, at, 64<<20),
		sample("lab", "a", "idle", history.Memory, at, 1<<20),
		exactly(0.001500001, sample("shop", "b", "main", history.CPU, at.Add(time.Second), 2)), sample("shop", "b", "main", history.Memory, at.Add(time.Second), 2<<30),
	}
	for name, content := range map[string]rest.ContentConfig{"protobuf": inProtobuf, "JSON": {}} {
		t.Run(name, func(t *testing.T) {
			usagetest.Run(t, func(t *testing.T) usagetest.Case {
				down := &atomic.Value{}
				return usagetest.Case{Source: serve(t, pods, down, content), Want: want, OnlyNewest: true, Break: func() { down.Store("lab") }}
			})
		})
	}
	t.Run("delivers the other namespaces if one fails", func(t *testing.T) {
		down := &atomic.Value{}
		down.Store("lab")
		n := 0
		err := serve(t, pods, down, inProtobuf).Read(t.Context(), at.Add(-time.Hour), at.Add(time.Hour), func(s usage.Sample) { n++ })
		if !errors.Is(err, usage.ErrIncomplete) || !strings.Contains(err.Error(), "list the metrics of namespace lab") || n != 2 {
			t.Errorf("%d samples, %v", n, err)
		}
	})
	t.Run("delivers later what a node whose clock is ahead has measured", func(t *testing.T) {
		pods := map[string][]metrics.PodMetrics{}
		source := serve(t, pods, &atomic.Value{}, inProtobuf)
		var got []time.Time
		for second := 0; second <= 120; second += 10 {
			now := at.Add(time.Duration(second) * time.Second)
			// Each measurement is there for three reads.
			pods["lab"] = []metrics.PodMetrics{pod("lab", "a", at.Add(time.Duration(second/30*30+45)*time.Second), "main 1 1Gi")}
			err := source.Read(t.Context(), now.Add(-10*time.Second), now, func(s usage.Sample) {
				if s.Resource == history.CPU {
					got = append(got, s.At)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		want := []time.Time{at.Add(45 * time.Second), at.Add(75 * time.Second), at.Add(105 * time.Second)}
		if !slices.EqualFunc(got, want, time.Time.Equal) {
			t.Errorf("%v, want %v", got, want)
		}
		// A clock that is ahead for hours would fill the memory.
		pods["lab"] = []metrics.PodMetrics{pod("lab", "b", at.Add(2*time.Hour), "main 1 1Gi")}
		if err := source.Read(t.Context(), at, at.Add(10*time.Minute), func(usage.Sample) {}); err != nil || len(source.ahead) != 0 {
			t.Errorf("%v, %v", source.ahead, err)
		}
	})
}
