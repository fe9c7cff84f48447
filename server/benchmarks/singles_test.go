package benchmarks

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/policy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/measured"
	"github.com/workload-resizer/workload-resizer/ratios/production"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/compare"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/usage/push"
)

// unlike returns a server that knows that workloads differ on n4: one that is gone, web in shop, db in bank, which is alone there, and 14 with
// pods of their own in namespace many.
func unlike(t *testing.T, viewer access.Viewer, layer *ratios.Layer) workloadresizerv1.BenchmarkServiceClient {
	t.Helper()
	of := inProduction()
	n4 := &of.view.Suggestions[1]
	differs := func(namespace, name string, ratio float64) {
		n4.Unlike = append(n4.Unlike, production.Single{
			Key: compare.KeyOf(namespace, "Deployment", name), Interval: production.Interval{Ratio: ratio, Low: measured.Significant(ratio - 0.1), High: measured.Significant(ratio + 0.1)},
		})
	}
	differs("shop", "gone", 2)
	differs("shop", "web", 1.7)
	differs("bank", "db", 1.2)
	pods, nodes := servertest.ShopPods()
	for i := range 14 {
		name := fmt.Sprint("w", i)
		p := pods[0].DeepCopy()
		p.Namespace, p.Name, p.UID, p.Labels["app"], p.OwnerReferences[0].Name = "many", name, types.UID(name), name, name+"-1"
		pods = append(pods, *p)
		differs("many", name, 1.9)
	}
	parts := servertest.Start(t, servertest.Setup{
		Cluster: servertest.Frozen(t, pods, nodes), Ratios: ratios.Update{Layer: layer},
		Loop: func(c *reconciler.Config) {
			c.DryRun, c.Usage = true, &demand.Usage{Sources: []demand.Source{{Source: push.New(), Interval: time.Minute}}, Interval: time.Minute}
		},
	}).Known(t)
	return serve(t, parts, nil, serving{production: of, viewer: viewer})
}

// namesOf returns the workloads that differ on a node type, as namespace/name.
func namesOf(t *testing.T, client workloadresizerv1.BenchmarkServiceClient, nodeType string) (names []string) {
	t.Helper()
	got, err := client.GetSuggestion(t.Context(), &workloadresizerv1.GetSuggestionRequest{NodeType: nodeType})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range got.GetSuggestion().GetProduction().GetWorkloadRatios() {
		names = append(names, w.GetNamespace()+"/"+w.GetWorkload().GetName())
	}
	return names
}

func TestSingles(t *testing.T) {
	t.Run("callers see those that exist, in namespaces that they may read", func(t *testing.T) {
		for _, tc := range []struct {
			viewer access.Viewer
			want   []string
		}{
			{servertest.Only("bank", "default"), []string{"bank/db"}},
			{servertest.AllBut("bank", "many"), []string{"shop/web"}},
			{servertest.Only(), nil},
			{servertest.All, []string{"shop/web", "bank/db", "many/w0", "many/w1", "many/w2", "many/w3", "many/w4", "many/w5", "many/w6", "many/w7"}},
		} {
			client := unlike(t, tc.viewer, halved())
			if got := namesOf(t, client, "n4"); !cmp.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if got := len(productionOf(t, client)["n4"].GetWorkloadRatios()); got != len(tc.want) {
				t.Errorf("a list has %d, want %d", got, len(tc.want))
			}
			if got := namesOf(t, client, "c4"); got != nil {
				t.Errorf("of another type: %q", got)
			}
		}
	})
	t.Run("has what a rule needs", func(t *testing.T) {
		layer := halved()
		layer.Rules = []ratios.Rule{{Name: "podLabels.app.web", Match: policy.Criteria{Labels: map[string]string{"app": "web"}}, Ratios: map[string]ratios.Ratio{"n4": {CPUPerf: 0.9, MemoryPerf: 2}}}}
		got := productionOf(t, unlike(t, servertest.All, layer))["n4"].GetWorkloadRatios()
		interval := func(low, high float64) *workloadresizerv1.RatioInterval {
			return &workloadresizerv1.RatioInterval{Low: low, High: high, Confidence: 0.95}
		}
		want := []*workloadresizerv1.WorkloadRatio{{
			Namespace: "shop", Workload: &workloadresizerv1.Workload{Kind: "Deployment", Name: "web"}, Ratio: 1.7, Interval: interval(1.6, 1.8),
			CpuPerf: new(0.85), MemoryPerf: new(2.0), PodLabels: map[string]string{"app": "web"}, Rule: "podLabels.app.web", CurrentCpuPerf: new(0.9),
		}, {
			Namespace: "bank", Workload: &workloadresizerv1.Workload{Kind: "Deployment", Name: "db"}, Ratio: 1.2, Interval: interval(1.1, 1.3),
			CpuPerf: new(0.6), MemoryPerf: new(2.0), PodLabels: map[string]string{"app": "db"}, WholeNamespace: true, CurrentCpuPerf: new(0.625),
		}}
		if diff := cmp.Diff(want, got[:2], protocmp.Transform()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("fails if it is not known what the caller may read", func(t *testing.T) {
		client := unlike(t, servertest.Unknown(errors.New("not now")), halved())
		if got, err := client.ListSuggestions(t.Context(), &workloadresizerv1.ListSuggestionsRequest{}); err == nil {
			t.Errorf("got %v", got)
		}
	})
}
