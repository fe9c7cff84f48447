package demand

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// TestNothingJumpsOnceATemplateHasTheRecommendation replaces pods with pods of a template that has what is recommended, as
// after "resizectl export": they get the sizes that the pods before them had, and what is known of the workload stays.
func TestNothingJumpsOnceATemplateHasTheRecommendation(t *testing.T) {
	f := newFixture(t, following())
	f.source.cpu = map[string]int64{"web-1-x": 500, "web-1-y": 400} // The requests before are not close enough to be kept.
	f.round(t)
	f.after(t, 30)
	desired := func() map[string]sizing.Container {
		t.Helper()
		all := map[string]sizing.Container{}
		rules, known := f.of.Rules()
		if !known {
			t.Fatal("no rules are in effect")
		}
		for _, p := range f.of.Pods("shop").List() {
			s := f.of.Snapshot(p, rules)
			s.Demand = f.NeedsOf(p, f.of.Owners().Chain(nil, p), f.Ratios.Table(), false)
			of := &f.of.Planner.Plan(s).Containers[0]
			all[p.Name] = of.Desired
			if of.Desired.Memory.Request == 0 {
				t.Fatalf("%s has no size: %+v", p.Name, of)
			}
		}
		return all
	}
	before, item := desired(), f.report(t)[0]
	if before["web-1-x"] == before["web-1-y"] {
		t.Fatalf("the sizes on both node types are %+v", before["web-1-x"])
	}
	target := item.Recommendation.Target
	f.roll(t, f.Clock.Now(), func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources = podtest.Amounts{sizing.CPUText(target.CPU), "", sizing.MemoryText(target.Memory), ""}.Requirements()
		podtest.AsCreated(p)
	})
	f.round(t)
	for hours := range 3 {
		after := desired()
		for name, size := range before {
			if after[name] != size {
				t.Errorf("after %d hours, %s gets %+v instead of %+v", hours, name, after[name], size)
			}
		}
		f.after(t, 1)
	}
	items := f.report(t)
	if len(items) != 1 || items[0].Container != item.Container || items[0].Recommendation.Target != target {
		t.Fatalf("recommended: %+v, want one with %+v", items, target)
	}
	if had, has := item.Recommendation.CPUKnown.Age, items[0].Recommendation.CPUKnown.Age; has <= had {
		t.Errorf("CPU is known for %s, and was for %s before", has, had)
	}
	// Only the author's amounts are others, so that sizes save the rest.
	if items[0].Authored.CPU != 2*target.CPU || items[0].Authored.Memory != 2*target.Memory {
		t.Errorf("the author wrote %+v, want twice %+v", items[0].Authored, target)
	}
	savers := 0
	for saver, err := range f.Savings(t.Context(), Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		savers++
		if saver.Workload != web || saver.Pods != 2 || saver.Unknown != 0 || saver.Authored.CPU != 2*target.CPU {
			t.Errorf("savings: %+v", saver)
		}
	}
	if savers != 1 {
		t.Errorf("%d workloads save", savers)
	}
}

// TestMostAuthored checks that a report has the largest amounts that the authors of pods wrote, and the bounds of their rule.
func TestMostAuthored(t *testing.T) {
	f := newFixture(t, following(), func(p *corev1.Pod) {
		if p.Name == "web-1-y" {
			p.Spec.Containers[0].Resources = podtest.Amounts{"500m", "2", "2Gi", "3Gi"}.Requirements()
		}
	})
	f.round(t)
	want := sizing.Container{CPU: sizing.Amount{Request: 1000, Limit: 2000}, Memory: sizing.Amount{Request: 2 << 30, Limit: 3 << 30}}
	if got := f.report(t)[0].MostAuthored; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
