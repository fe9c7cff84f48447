package work

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/promql"
	"github.com/workload-resizer/workload-resizer/usage/prometheus"
)

// BenchmarkHour asks once for the work of 150,000 pods in an hour, of a server that answers as Prometheus does. The pods are in the cluster before.
func BenchmarkHour(b *testing.B) {
	const size = 150_000
	pods := make([]*corev1.Pod, size)
	var answer strings.Builder
	answer.WriteString(`{"status":"success","data":{"resultType":"vector","result":[`)
	for i := range pods {
		namespace, name := fmt.Sprint("team-", i/1000), fmt.Sprintf("web-5d8c7b9f4-%05x", i)
		pods[i] = podtest.Pod(podtest.Guaranteed, clustertest.Named(namespace, name, "b"), func(p *corev1.Pod) {
			p.CreationTimestamp = metav1.NewTime(podtest.Start.Add(-time.Hour))
		})
		fmt.Fprintf(&answer, `%s{"metric":{"namespace":%q,"pod":%q},"value":[1795219200,"%d.123456789"]}`, map[bool]string{true: ","}[i > 0], namespace, name, i%1000+1)
	}
	answer.WriteString("]}}")
	body := []byte(answer.String())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }))
	b.Cleanup(server.Close)
	source, err := prometheus.New(prometheus.Config{Address: server.URL})
	if err != nil {
		b.Fatal(err)
	}
	of := clustertest.Of(b, pods, nil)
	layer := clustertest.Published()
	by := policy.Work{Prometheus: server.URL, Query: "requests"}
	layer.Settings = keys.Some(policy.Settings{Work: by}).Over(layer.Settings)
	of.Ratios = clustertest.Store(b, layer)
	before, most := podtest.HeapInUse(), 0.0
	var allocated uint64
	c := New(Config{Cluster: of, Leads: func() bool { return true }, Clock: clustertest.Clock(of), Query: func(ctx context.Context, _, query string, at time.Time, take func(promql.Element)) error {
		elements, began := 0, totalAlloc()
		err := source.Vector(ctx, query, at, func(e prometheus.Element) {
			if elements++; elements == size && at.Minute() == 5 {
				most = max(most, podtest.HeapInUse()-before)
			}
			take(promql.Element(e))
		})
		allocated = max(allocated, totalAlloc()-began)
		return err
	}})
	hours := 0
	begin := podtest.CPUTime(b)
	for b.Loop() {
		hours++
		clustertest.Clock(of).SetTime(podtest.Start.Add(time.Duration(hours)*time.Hour + settled))
		c.round(b.Context())
	}
	b.ReportMetric((podtest.CPUTime(b)-begin).Seconds()/float64(hours), "s/hour")
	b.ReportMetric((podtest.CPUTime(b)-begin).Seconds()/float64(hours)/3600, "cores")
	b.ReportMetric(most/(1<<20), "MiB-with-an-answer")
	b.ReportMetric(float64(allocated)/(1<<20), "MiB-allocated/answer")
	b.ReportMetric((podtest.HeapInUse()-before)/(1<<20), "MiB")
	p := of.Pods("team-0").Get("web-5d8c7b9f4-00001")
	if n := c.Of(p, &by, podtest.Start.Unix()/3600+int64(hours)-1); n < 2 || n > 3 || c.Problem() != nil {
		b.Errorf("%v, %v", n, c.Problem())
	}
	runtime.KeepAlive(pods)
}

// totalAlloc returns how many bytes were allocated so far, which is how much memory something may need at most: garbage counts, too.
func totalAlloc() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
