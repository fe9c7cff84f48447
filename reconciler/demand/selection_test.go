package demand

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/usage"
)

func TestSelection(t *testing.T) {
	t.Run("each selected workload has sums over its own pods", eachSelectedWorkloadHasSumsOverItsOwnPods)
	t.Run("pods belong to their owners in any state", podsBelongToTheirOwnersInAnyState)
	t.Run("an owner has the history of the workload that its pods count for", theHistoryOfAnOwnerIsOfTheWorkloadThatItsPodsCountFor)
	t.Run("a pod without a workload belongs to its owner", aPodWithoutAWorkloadBelongsToItsOwner)
}

// rolling moves one of the two pods to a second ReplicaSet of the Deployment.
func rolling(p *corev1.Pod) {
	if p.Name == "web-1-y" {
		p.OwnerReferences[0].Name, p.Labels["pod-template-hash"] = "web-2", "2"
	}
}

func eachSelectedWorkloadHasSumsOverItsOwnPods(t *testing.T) {
	f := newFixture(t, clustertest.Published(), rolling)
	f.round(t)
	second := usage.Workload{Namespace: "shop", Kind: "ReplicaSet", Name: "web-2"}
	items := f.reportOf(t, Selection{Workloads: []usage.Workload{second, {}, web}})
	if len(items) != 3 {
		t.Fatalf("%d items", len(items))
	}
	for i, want := range []struct {
		of   usage.Workload
		pods int
	}{{usage.Workload{}, 2}, {web, 2}, {second, 1}} {
		if item := items[i]; item.Of != want.of || item.Container != app || item.Pods != want.pods || item.Authored.CPU != 1000*int64(want.pods) || !item.Known {
			t.Errorf("%+v, want %+v", item, want)
		}
	}
}

func podsBelongToTheirOwnersInAnyState(t *testing.T) {
	f := newFixture(t, clustertest.Published(), rolling, func(p *corev1.Pod) {
		switch p.Name {
		case "web-1-x":
			p.Status.Phase = corev1.PodSucceeded
		case "web-1-y":
			p.Spec.NodeName = ""
		}
	})
	for _, tc := range []struct {
		of                           usage.Workload
		total, finished, unscheduled int
	}{{web, 2, 1, 1}, {replicaSet, 1, 1, 0}, {usage.Workload{Namespace: "shop", Kind: "ReplicaSet", Name: "web-2"}, 1, 0, 1}} {
		if got := f.PodsOf(tc.of); got.Total != tc.total || got.Finished != tc.finished || got.Unscheduled != tc.unscheduled || !slices.Equal(got.CountFor, []usage.Workload{web}) {
			t.Errorf("%v: %+v", tc.of, got)
		}
	}
	if got := f.PodsOf(usage.Workload{Namespace: "bank", Kind: "Deployment", Name: "web"}); got.Total != 0 || got.CountFor != nil {
		t.Errorf("in another namespace: %+v", got)
	}
	if n := len(f.report(t)); n != 0 {
		t.Errorf("%d items of pods that do not run", n)
	}
	// Its pods were measured while they ran.
	f.round(t)
	if all := f.explain(t, replicaSet); len(all) != 1 || all[0].Container != app || all[0].Pods != 0 || len(all[0].Steps) == 0 {
		t.Errorf("%+v", all)
	}
}

func theHistoryOfAnOwnerIsOfTheWorkloadThatItsPodsCountFor(t *testing.T) {
	f := newFixture(t, clustertest.Published())
	f.round(t)
	if found := f.Histories(replicaSet, "app"); len(found) != 1 || found[0].Container != app {
		t.Errorf("%+v", found)
	}
	for _, p := range f.of.Pods("").List() {
		if err := f.of.Forget(p); err != nil {
			t.Fatal(err)
		}
	}
	if found := f.Histories(web, "app"); len(found) != 1 || found[0].Container != app {
		t.Errorf("of a workload without pods: %+v", found)
	}
	if found := f.Histories(replicaSet, "app"); len(found) != 0 {
		t.Errorf("of a controller that has no pods: %+v", found)
	}
	// Two workloads of an operator each have a history.
	f = newFixture(t, clustertest.Published(), func(p *corev1.Pod) {
		p.OwnerReferences[0].Kind, p.OwnerReferences[0].Name = "StatefulSet", p.Name
	})
	f.round(t)
	one := usage.Workload{Namespace: "shop", Kind: "StatefulSet", Name: "web-1-x"}
	if found := f.Histories(one, "app"); len(found) != 1 || found[0].Container.Workload != "web-1-x" {
		t.Errorf("of one of two: %+v", found)
	}
}

func aPodWithoutAWorkloadBelongsToItsOwner(t *testing.T) {
	f := newFixture(t, clustertest.Published(), func(p *corev1.Pod) {
		p.OwnerReferences[0].Kind, p.OwnerReferences[0].Name = "Job", "backup"
	})
	f.round(t)
	job := usage.Workload{Namespace: "shop", Kind: "Job", Name: "backup"}
	if got := f.PodsOf(job); got.Total != 2 || got.CountFor != nil {
		t.Errorf("%+v", got)
	}
	if items := f.reportOf(t, Selection{Workloads: []usage.Workload{job}}); len(items) != 0 {
		t.Errorf("%+v", items)
	}
	f = newFixture(t, clustertest.Published(), func(p *corev1.Pod) {
		p.OwnerReferences[0].Kind, p.OwnerReferences[0].Name = "Job", "backup-"+p.Name
		p.Labels[DefaultJobLabel] = "backup"
	})
	f.round(t)
	// The label names the workload.
	if got := f.PodsOf(job); got.Total != 2 || !slices.Equal(got.CountFor, []usage.Workload{job}) {
		t.Errorf("%+v", got)
	}
	if items := f.reportOf(t, Selection{Workloads: []usage.Workload{job}}); len(items) != 1 || items[0].Pods != 2 {
		t.Errorf("%+v", items)
	}
}
