package demand

import (
	"slices"
	"testing"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/usage"
)

func TestExplain(t *testing.T) {
	t.Run("steps lead to the target", stepsLeadToTheTarget)
	t.Run("a rule is explained with its own ratios", aRuleIsExplainedWithItsOwnRatios)
	t.Run("a workload without pods is explained by its history", aWorkloadWithoutPodsIsExplainedByItsHistory)
	t.Run("a workload without history is shown as unknown", aWorkloadWithoutHistoryIsShownAsUnknown)
	t.Run("what was measured since the last publication counts", whatWasMeasuredSinceTheLastPublicationCounts)
	t.Run("history is shown as measured", historyIsShownAsMeasured)
}

var replicaSet = usage.Workload{Namespace: "shop", Kind: "ReplicaSet", Name: "web-1"}

func (f *fixture) explain(t *testing.T, of usage.Workload) []Explained {
	t.Helper()
	all, err := f.Explain(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func stepsLeadToTheTarget(t *testing.T) {
	layer := clustertest.Published()
	layer.Settings = keys.Some(policy.Settings{Demand: policy.Demand{CPU: policy.ResourceDemand{Bounds: sizing.Range{Max: 1000}}}}).Over(layer.Settings)
	f := newFixture(t, layer)
	f.round(t)
	for _, of := range []usage.Workload{web, replicaSet} {
		all := f.explain(t, of)
		if len(all) != 1 {
			t.Fatalf("%d containers of %v", len(all), of)
		}
		e, target := all[0], f.target(t, "")
		if last := e.Steps[len(e.Steps)-1]; last.Name != "bounds" || last.Amounts != target || e.Recommendation.Target != target || target.CPU != 1000 {
			t.Errorf("the last step is %+v, and the target %v", last, target)
		}
		var names []string
		for _, step := range e.Steps {
			names = append(names, step.Name)
			if step.Message == "" {
				t.Errorf("step %s says nothing", step.Name)
			}
		}
		if len(names) != 4 || names[0] != "estimate" || names[1] != "margin" || names[2] != "floor" {
			t.Errorf("steps %v", names)
		}
		if len(e.Measured) != 2 || e.Measured[0].NodeType != "n2d" || e.Measured[0].Speed.CPU != 1 || e.Measured[1].Speed.CPU != 1.25 || e.Measured[1].Samples != 600 {
			t.Errorf("measured %+v", e.Measured)
		}
		// 10 hours are not enough.
		if want := "9 hours of CPU known, and 24 hours needed (minHistory)"; e.KeepsCPU != want {
			t.Errorf("CPU is kept because %q, want %q", e.KeepsCPU, want)
		}
	}
}

func aRuleIsExplainedWithItsOwnRatios(t *testing.T) {
	f := newFixture(t, ruled())
	f.round(t)
	all := f.explain(t, web)
	if len(all) != 1 || all[0].Rule != "shop" || all[0].Measured[0].Speed.CPU != 0.8 || all[0].Measured[1].Speed.CPU != 1 {
		t.Errorf("%+v", all)
	}
}

func aWorkloadWithoutPodsIsExplainedByItsHistory(t *testing.T) {
	f := newFixture(t, clustertest.Published())
	f.round(t)
	for _, p := range f.of.Pods("").List() {
		f.podChanged(p, nil)
	}
	f.survey.Store(&survey{table: f.Ratios.Table()})
	if all := f.explain(t, web); len(all) != 1 || all[0].Recommendation.Target != f.target(t, "") || len(all[0].Steps) == 0 {
		t.Errorf("%+v", all)
	}
	if all := f.explain(t, usage.Workload{Namespace: "shop", Kind: "Deployment", Name: "db"}); len(all) != 0 {
		t.Errorf("of another workload: %+v", all)
	}
}

func aWorkloadWithoutHistoryIsShownAsUnknown(t *testing.T) {
	f := newFixture(t, clustertest.Published())
	f.publish(t.Context())
	all := f.explain(t, web)
	if len(all) != 1 || all[0].Known || all[0].Steps != nil || all[0].Demand.From != policy.FromAuthor {
		t.Errorf("%+v", all)
	}
}

func whatWasMeasuredSinceTheLastPublicationCounts(t *testing.T) {
	f := newFixture(t, clustertest.Published())
	f.publish(t.Context())
	f.readOnce(t.Context(), f.sources[0])
	if i := f.report(t)[0]; i.Known {
		t.Errorf("published: %+v", i)
	}
	all := f.explain(t, web)
	if len(all) != 1 || !all[0].Known || all[0].Unknown != 0 || all[0].Recommendation.Target != all[0].Steps[len(all[0].Steps)-1].Amounts {
		t.Fatalf("%+v", all[0])
	}
	for _, on := range all[0].On {
		if speed := map[string]int64{"n2d": 100, "n4": 125}[on.NodeType]; !on.Known || on.Size.CPU != (all[0].Recommendation.Target.CPU*100+speed/2)/speed {
			t.Errorf("%+v, target %+v", on, all[0].Recommendation.Target)
		}
	}
}

func historyIsShownAsMeasured(t *testing.T) {
	f := newFixture(t, clustertest.Published())
	f.round(t)
	found := f.Histories(web, "app")
	if len(found) != 1 || found[0].Container != app || len(found[0].On) != 2 {
		t.Fatalf("%+v", found)
	}
	all := found[0].On
	for i, want := range []struct {
		nodeType string
		cores    float64
	}{{"n2d", 1}, {"n4", 0.8}} {
		d := all[i]
		if d.NodeType != want.nodeType || d.Samples != 600 || len(d.CPU) != 1 || d.CPU[0].Share != 1 || d.CPU[0].From > want.cores || d.CPU[0].To <= want.cores {
			t.Errorf("%+v, want %+v", d, want)
		}
		if len(d.Memory) != 1 || d.Memory[0].To < 100<<20 {
			t.Errorf("memory %+v", d.Memory)
		}
	}
	if found := f.Histories(web, "sidecar"); len(found) != 0 {
		t.Errorf("of a container that was never measured: %+v", found)
	}
	if names := f.Measured(web); !slices.Equal(names, []string{"app"}) {
		t.Errorf("measured %v", names)
	}
}
