package demand

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

func TestReport(t *testing.T) {
	t.Run("sums are over the pods, on their nodes", sumsAreOverThePodsOnTheirNodes)
	t.Run("what is unknown is not compared", whatIsUnknownIsNotCompared)
	t.Run("sums of items are the sums over all pods", sumsOfItemsAreTheSumsOverAllPods)
}

// report returns the report of all pods.
func (f *fixture) report(t *testing.T) []*Item {
	t.Helper()
	items, err := f.Report(t.Context(), f.of.Pods("").List())
	if err != nil {
		t.Fatal(err)
	}
	return items
}

func sumsAreOverThePodsOnTheirNodes(t *testing.T) {
	layer := clustertest.Published()
	layer.Prices = &ratios.Prices{Currency: "USD", Default: ratios.Price{CPU: 0.1, Memory: 0.5}, Types: map[string]ratios.Price{"n4": {CPU: 0.2}}}
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
