package metricsapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/rest"
	metrics "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	"k8s.io/metrics/pkg/client/clientset/versioned/scheme"
	client "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"

	"github.com/workload-resizer/workload-resizer/usage"
)

// nodesFrom returns the source of a server that answers with a list, or with an error.
func nodesFrom(t *testing.T, list *metrics.NodeMetricsList, content rest.ContentConfig) *Nodes {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		var err error
		switch inProtobuf := strings.Contains(r.Header.Get("Accept"), "protobuf"); {
		case list == nil:
			http.Error(w, "metrics not available", http.StatusServiceUnavailable)
		case inProtobuf:
			w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf")
			err = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(list, &body)
		default:
			w.Header().Set("Content-Type", "application/json")
			err = json.NewEncoder(&body).Encode(list)
		}
		if err != nil || r.URL.Path != "/apis/metrics.k8s.io/v1beta1/nodes" {
			t.Errorf("%s: %v", r.URL, err)
		}
		_, _ = w.Write(body.Bytes())
	}))
	t.Cleanup(server.Close)
	c, err := client.NewForConfig(&rest.Config{Host: server.URL, QPS: -1, ContentConfig: content})
	if err != nil {
		t.Fatal(err)
	}
	return &Nodes{Client: c}
}

func TestNodes(t *testing.T) {
	list := &metrics.NodeMetricsList{
		TypeMeta: metav1.TypeMeta{Kind: "NodeMetricsList", APIVersion: "metrics.k8s.io/v1beta1"},
		Items: []metrics.NodeMetrics{
			{
				ObjectMeta: metav1.ObjectMeta{Name: "n4-0"}, Timestamp: metav1.NewTime(at), Window: metav1.Duration{Duration: 10 * time.Second},
				Usage: corev1.ResourceList{"cpu": resource.MustParse("1500m"), "memory": resource.MustParse("2Gi")},
			},
			{ObjectMeta: metav1.ObjectMeta{Name: "unmeasured"}, Timestamp: metav1.NewTime(at)},
		},
	}
	want := []usage.NodeUsage{{Node: "n4-0", At: at, CPU: usage.ValueOf(1500), Memory: usage.ValueOf(2 << 30)}, {Node: "unmeasured", At: at}}
	for name, content := range map[string]rest.ContentConfig{"protobuf": inProtobuf, "JSON": {}} {
		got, err := nodesFrom(t, list, content).ReadNodes(t.Context())
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v: %s", name, err, diff)
		}
	}
	if got, err := nodesFrom(t, nil, rest.ContentConfig{}).ReadNodes(t.Context()); err == nil || !strings.Contains(err.Error(), "list the metrics of nodes") || len(got) > 0 {
		t.Errorf("%v, %v", got, err)
	}
}
