package monitoring

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// TestMeasured checks that Go tests get clusters whose containers work and are measured. The
// tests of the test cluster check what is measured.
func TestMeasured(t *testing.T) {
	t.Parallel()
	cluster := localcluster.ForTestWith(t, localcluster.Options{
		Nodes: "n4=1:speed=2", Work: []string{"measured/works/app={cpu: 500m, memory: [{leak: 64Mi, every: 1m, upTo: 64Mi}]}"},
		TimeScale: 60, MetricsServer: true, Prometheus: true,
	})
	err := localcluster.Apply(t.Context(), cluster.Config(), []byte(`
apiVersion: v1
kind: Namespace
metadata: {name: measured}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: works, namespace: measured}
---
apiVersion: v1
kind: Pod
metadata: {name: works, namespace: measured}
spec: {serviceAccountName: works, containers: [{name: app, image: none}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	t.Run("Prometheus measures the work", func(t *testing.T) {
		prometheus, err := cluster.Metrics(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		const query = `irate(container_cpu_usage_seconds_total{namespace="measured", container="app", metrics_path="/metrics/cadvisor"}[1m])`
		localcluster.Eventually(t, "Prometheus to measure half of 500m", func() error {
			value, _, _, err := prometheus.Query(t.Context(), query, time.Now())
			if err != nil {
				return err
			}
			vector, isVector := value.(model.Vector)
			if !isVector || len(vector) != 1 || math.Abs(float64(vector[0].Value)-0.25) > 0.005 {
				return fmt.Errorf("got %v", value)
			}
			return nil
		})
	})
	t.Run("metrics-server measures the work", func(t *testing.T) {
		client := kubernetes.NewForConfigOrDie(cluster.Config()).Discovery().RESTClient()
		localcluster.Eventually(t, "metrics-server to measure 64Mi", func() error {
			content, err := client.Get().AbsPath("/apis/metrics.k8s.io/v1beta1/namespaces/measured/pods/works").DoRaw(t.Context())
			if err == nil && !strings.Contains(string(content), `"memory":"64Mi"`) {
				err = fmt.Errorf("got %s", content)
			}
			return err
		})
	})
}
