package demand

import (
	"context"
	"errors"
	"math"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

func TestReport(t *testing.T) {
	t.Run("sums are over the pods, on their nodes", sumsAreOverThePodsOnTheirNodes)
	t.Run("what a HorizontalPodAutoscaler compares with usage saves nothing", whatIsWithheldSavesNothing)
	t.Run("what is unknown is not compared", whatIsUnknownIsNotCompared)
	t.Run("sums of items are the sums over all pods", sumsOfItemsAreTheSumsOverAllPods)
	t.Run("sums do not overflow", sumsDoNotOverflow)
	t.Run("sizes are per node type, most pods first", sizesArePerNodeTypeMostPodsFirst)
	t.Run("all criteria select", allCriteriaSelect)
	t.Run("ends with the error of its view or context", endsWithTheErrorOfItsViewOrContext)
}

// report returns the report of all pods.
func (f *fixture) report(t *testing.T) []*Item {
	t.Helper()
	return f.reportOf(t, Selection{})
}

// reportOf returns the report of the selected pods.
func (f *fixture) reportOf(t *testing.T, of Selection) (items []*Item) {
	t.Helper()
	for item, err := range f.Report(t.Context(), of) {
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, item)
	}
	return items
}

func sumsAreOverThePodsOnTheirNodes(t *testing.T) {
	layer := clustertest.Published()
	layer.Cluster = keys.Some(policy.Cluster{Prices: &policy.Prices{Currency: "USD", Default: policy.Price{CPU: 0.1, Memory: 0.5}, Types: map[string]policy.Price{"n4": {CPU: 0.2}}}})
	f := newFixture(t, layer)
	f.round(t)
	items := f.report(t)
	if len(items) != 1 {
		t.Fatalf("%d items", len(items))
	}
	i, target := items[0], f.target(t, "")
	onN2D, onN4 := target.CPU, (target.CPU*4+2)/5
	if i.Container != app || i.Rule != "" || !i.Known || i.Pods != 2 || i.Unknown != 0 ||
		i.Authored != (recommend.Amounts{CPU: 2000, Memory: 2 << 30}) || i.Current != i.Authored || i.Compared != i.Authored ||
		i.Recommended.CPU != onN2D+onN4 {
		t.Errorf("%+v, target %+v", i, target)
	}
	// A n2d uses a core, a n4 0.8.
	if i.Used.CPU < 1800*97/100 || i.Used.CPU > 1800*103/100 || i.Used.Memory < 195<<20 || i.Used.Memory > 215<<20 {
		t.Errorf("used %+v", i.Used)
	}
	authored, recommended := 0.1+0.5+0.2, 0.1*float64(onN2D)/1000+0.2*float64(onN4)/1000+0.5*float64(i.Recommended.Memory)/2/(1<<30)
	if i.AuthoredCost != authored || i.RecommendedCost < recommended*0.999 || i.RecommendedCost > recommended*1.001 {
		t.Errorf("costs %v and %v, want %v and %v", i.AuthoredCost, i.RecommendedCost, authored, recommended)
	}
}

func whatIsWithheldSavesNothing(t *testing.T) {
	layer := clustertest.Published()
	layer.Cluster = keys.Some(policy.Cluster{Prices: &policy.Prices{Currency: "USD", Default: policy.Price{CPU: 0.1, Memory: 0.5}}})
	f := newFixture(t, layer)
	f.round(t)
	before := f.report(t)[0]
	share := int32(80)
	hpa := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"},
		Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
			Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &share},
		}}},
	}}
	if err := f.of.KnowAutoscaler(hpa); err != nil {
		t.Fatal(err)
	}
	items := map[string]*Item{"report": f.report(t)[0], "explanation": f.explain(t, web)[0].Item}
	for name, i := range items {
		if want := [2]string{"HorizontalPodAutoscaler web targets 80% of cpu requests", ""}; before.Withheld != [2]string{} || i.Withheld != want {
			t.Errorf("%s: withheld %q, before %q", name, i.Withheld, before.Withheld)
		}
		if i.Recommended.CPU != i.Compared.CPU || i.Recommended.Memory != before.Recommended.Memory || i.Compared != before.Compared || before.Recommended.CPU == before.Compared.CPU {
			t.Errorf("%s: recommended %+v of %+v, before %+v", name, i.Recommended, i.Compared, before.Recommended)
		}
		if i.Recommendation.Target != before.Recommendation.Target || i.Used != before.Used {
			t.Errorf("%s: target %+v, used %+v", name, i.Recommendation.Target, i.Used)
		}
		if saved := i.AuthoredCost - i.RecommendedCost; saved > 0.5*float64(i.Compared.Memory)/(1<<30) {
			t.Errorf("%s: %v is saved", name, saved)
		}
	}
}

func whatIsUnknownIsNotCompared(t *testing.T) {
	f := newFixture(t, clustertest.Published())
	f.publish(t.Context())
	i := f.report(t)[0]
	if i.Known || i.Pods != 2 || i.Unknown != 2 || i.Authored.CPU != 2000 || i.Compared != (recommend.Amounts{}) || i.Recommended != (recommend.Amounts{}) {
		t.Errorf("without history: %+v", i)
	}
	layer := clustertest.Published()
	delete(layer.Ratios, "n4")
	f = newFixture(t, layer)
	f.round(t)
	i = f.report(t)[0]
	if !i.Known || i.Pods != 2 || i.Unknown != 1 || i.Authored.CPU != 2000 || i.Compared.CPU != 1000 {
		t.Errorf("with a node of unknown speed: %+v", i)
	}
}

func sumsOfItemsAreTheSumsOverAllPods(t *testing.T) {
	f := newFixture(t, ruled(), podtest.WithSecond(podtest.Amounts{"300m", "", "64Mi", ""}), func(p *corev1.Pod) {
		if p.Name == "web-1-y" {
			p.Namespace = "bank"
		}
	})
	f.round(t)
	var total Sums
	for _, i := range f.report(t) {
		if i.Compared.CPU+i.Compared.Memory > 0 && i.Unknown == i.Pods || i.Known == (i.Unknown > 0) {
			t.Errorf("%+v", i)
		}
		total.Add(&i.Sums)
	}
	if total.Pods != 4 || total.Unknown != 2 || total.Authored != (recommend.Amounts{CPU: 2600, Memory: 2<<30 + 128<<20}) || total.Compared != (recommend.Amounts{CPU: 2000, Memory: 2 << 30}) {
		t.Errorf("%+v", total)
	}
}

func sumsDoNotOverflow(t *testing.T) {
	largest := recommend.Amounts{CPU: math.MaxInt64 / 2, Memory: 1 << 62}
	var s Sums
	for range 3 {
		s.Add(&Sums{Authored: largest})
	}
	if want := (recommend.Amounts{CPU: math.MaxInt64, Memory: math.MaxInt64}); s.Authored != want {
		t.Errorf("%v, want %v", s.Authored, want)
	}
}

func sizesArePerNodeTypeMostPodsFirst(t *testing.T) {
	layer := clustertest.Published()
	delete(layer.Ratios, "n4")
	f := newFixture(t, layer)
	f.round(t)
	i, target := f.report(t)[0], f.target(t, "")
	want := []OnNodeType{{NodeType: "n2d", Pods: 1, Size: recommend.Amounts{CPU: target.CPU, Memory: (target.Memory + 1<<20 - 1) >> 20 << 20}, Known: true}, {NodeType: "n4", Pods: 1}}
	if len(i.On) != 2 || i.On[1] != want[1] || i.On[0].Size.CPU != want[0].Size.CPU || i.On[0].Size.Memory != i.Recommended.Memory || !i.On[0].Known {
		t.Errorf("%+v, want %+v", i.On, want)
	}
}

func allCriteriaSelect(t *testing.T) {
	f := newFixture(t, clustertest.Published())
	f.round(t)
	for _, tc := range []struct {
		name string
		of   Selection
		want int
	}{
		{"namespace", Selection{Namespace: "shop"}, 1},
		{"another namespace", Selection{Namespace: "bank"}, 0},
		{"labels", Selection{Selector: labels.SelectorFromSet(labels.Set{"app": "web"})}, 1},
		{"other labels", Selection{Selector: labels.SelectorFromSet(labels.Set{"app": "db"})}, 0},
		{"workload", Selection{Workloads: []usage.Workload{web}}, 1},
		{"controller", Selection{Workloads: []usage.Workload{replicaSet}}, 1},
		{"controller in any namespace", Selection{Workloads: []usage.Workload{{Kind: "ReplicaSet", Name: "web-1"}}}, 1},
		{"controller in another namespace", Selection{Workloads: []usage.Workload{{Namespace: "bank", Kind: "ReplicaSet", Name: "web-1"}}}, 0},
		{"all pods, its workload and its controller", Selection{Workloads: []usage.Workload{{}, web, replicaSet}}, 3},
		{"another workload", Selection{Workloads: []usage.Workload{{Namespace: "shop", Kind: "Deployment", Name: "db"}}}, 0},
		{"a later namespace to begin with", Selection{From: "shoq"}, 0},
		{"a namespace that the caller cannot see", Selection{Visible: func(...string) ([]string, error) { return nil, nil }}, 0},
	} {
		if got := len(f.reportOf(t, tc.of)); got != tc.want {
			t.Errorf("%s: %d items, want %d", tc.name, got, tc.want)
		}
	}
}

func endsWithTheErrorOfItsViewOrContext(t *testing.T) {
	f := newFixture(t, clustertest.Published())
	failed := errors.New("no answer")
	for _, err := range f.Report(t.Context(), Selection{Visible: func(...string) ([]string, error) { return nil, failed }}) {
		if !errors.Is(err, failed) {
			t.Errorf("%v, want %v", err, failed)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range f.Report(ctx, Selection{}) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want %v", err, context.Canceled)
		}
	}
}
