package hold

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

var (
	cluster   = Scope{}
	shop      = Scope{Namespace: "shop"}
	web       = Scope{Namespace: "shop", Pod: "web", UID: "1"}
	webBefore = Scope{Namespace: "shop", Pod: "web", UID: "0"}
	bank      = Scope{Namespace: "bank"}

	deployment = workload.Workload{Kind: "Deployment", Name: "web"}
	replicaSet = workload.Workload{Kind: "ReplicaSet", Name: "web-1"}
	webs       = Scope{Namespace: "shop", Workload: deployment}
	webs1      = Scope{Namespace: "shop", Workload: replicaSet}
)

func TestTable(t *testing.T) {
	t.Run("finds the hold in effect for a pod", findsTheHoldInEffectForAPod)
	t.Run("finds a hold without allocations", findsAHoldWithoutAllocations)
	t.Run("orders holds by scope", ordersHoldsByScope)
	t.Run("finds a restore over a scope", findsARestoreOverAScope)
}

func findsTheHoldInEffectForAPod(t *testing.T) {
	for _, tc := range []struct {
		name  string
		holds []Hold
		want  Hold
	}{
		{"none", nil, Hold{}},
		{"the cluster's", []Hold{{Kind: Pause, Scope: cluster}}, Hold{Kind: Pause, Scope: cluster}},
		{"its namespace's", []Hold{{Kind: Restore, Scope: shop}}, Hold{Kind: Restore, Scope: shop}},
		{"not another namespace's", []Hold{{Kind: Restore, Scope: bank}}, Hold{}},
		{"its own", []Hold{{Kind: Pause, Scope: web}}, Hold{Kind: Pause, Scope: web}},
		{"not an earlier pod's of the same name", []Hold{{Kind: Pause, Scope: webBefore}}, Hold{}},
		{"the most specific of a kind", []Hold{{Kind: Pause, Scope: cluster}, {Kind: Pause, Scope: web}, {Kind: Pause, Scope: shop}}, Hold{Kind: Pause, Scope: web}},
		{"the most specific restore", []Hold{{Kind: Restore, Scope: cluster}, {Kind: Restore, Scope: shop}}, Hold{Kind: Restore, Scope: shop}},
		{"a wider restore over a pause", []Hold{{Kind: Restore, Scope: cluster}, {Kind: Pause, Scope: shop}, {Kind: Pause, Scope: web}}, Hold{Kind: Restore, Scope: cluster}},
		{"a restore over a pause of the same scope", []Hold{{Kind: Pause, Scope: web}, {Kind: Restore, Scope: web}}, Hold{Kind: Restore, Scope: web}},
		{"its controller's", []Hold{{Kind: Pause, Scope: webs1}}, Hold{Kind: Pause, Scope: webs1}},
		{"its controller's controller's", []Hold{{Kind: Pause, Scope: webs}}, Hold{Kind: Pause, Scope: webs}},
		{"not another workload's", []Hold{{Kind: Pause, Scope: Scope{Namespace: "shop", Workload: workload.Workload{Kind: "StatefulSet", Name: "web"}}}}, Hold{}},
		{"not the workload's in another namespace", []Hold{{Kind: Pause, Scope: Scope{Namespace: "bank", Workload: deployment}}}, Hold{}},
		{"the workload's over the namespace's", []Hold{{Kind: Pause, Scope: shop}, {Kind: Pause, Scope: webs}}, Hold{Kind: Pause, Scope: webs}},
		{"the controller's over its controller's", []Hold{{Kind: Pause, Scope: webs}, {Kind: Pause, Scope: webs1}}, Hold{Kind: Pause, Scope: webs1}},
		{"the pod's over the workload's", []Hold{{Kind: Restore, Scope: webs1}, {Kind: Restore, Scope: web}}, Hold{Kind: Restore, Scope: web}},
		{"a restore of the workload over a pause of the pod", []Hold{{Kind: Pause, Scope: web}, {Kind: Restore, Scope: webs}}, Hold{Kind: Restore, Scope: webs}},
		{"a wider pause over a breaker", []Hold{{Kind: Breaker, Scope: webs}, {Kind: Pause, Scope: cluster}}, Hold{Kind: Pause, Scope: cluster}},
		{"the breaker of its workload over the cluster's", []Hold{{Kind: Breaker}, {Kind: Breaker, Scope: webs}}, Hold{Kind: Breaker, Scope: webs}},
		{"no breaker that was reset", []Hold{{Kind: Breaker, Scope: webs, Reset: began}}, Hold{}},
		{"a narrower restore over a pause", []Hold{{Kind: Pause, Scope: cluster}, {Kind: Restore, Scope: web}}, Hold{Kind: Restore, Scope: web}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, ok := NewTable(tc.holds).Of("shop", "web", "1", replicaSet, deployment)
			if got != tc.want || ok != (tc.want != Hold{}) {
				t.Errorf("%+v, %v; want %+v", got, ok, tc.want)
			}
		})
	}
	if h, ok := (*Table)(nil).Of("shop", "web", "1"); ok {
		t.Errorf("a nil table has %+v", h)
	}
}

func findsAHoldWithoutAllocations(t *testing.T) {
	table := NewTable([]Hold{{Kind: Pause, Scope: cluster}, {Kind: Restore, Scope: webs}, {Kind: Pause, Scope: bank}})
	if n := testing.AllocsPerRun(100, func() {
		table.Of("shop", "web", "1", replicaSet, deployment)
		table.Of("bank", "teller", "2", workload.Workload{}, workload.Workload{})
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func ordersHoldsByScope(t *testing.T) {
	var got []Scope
	for _, h := range NewTable([]Hold{{Scope: web}, {Scope: webs1}, {Scope: shop}, {Scope: webBefore}, {Scope: webs}, {Scope: cluster}, {Scope: bank}}).All() {
		got = append(got, h.Scope)
	}
	if diff := cmp.Diff([]Scope{cluster, bank, shop, webs, webs1, webBefore, web}, got); diff != "" {
		t.Error(diff)
	}
}

func findsARestoreOverAScope(t *testing.T) {
	for _, tc := range []struct {
		name      string
		holds     []Hold
		scope     Scope
		workloads []workload.Workload
		want      Scope
	}{
		{"the namespace's over a workload", []Hold{{Kind: Restore, Scope: shop}}, webs, nil, shop},
		{"the workload's own, which is narrower", []Hold{{Kind: Restore, Scope: shop}, {Kind: Restore, Scope: webs}}, webs, nil, webs},
		{"the workload's over its pod", []Hold{{Kind: Restore, Scope: webs}}, web, []workload.Workload{replicaSet, deployment}, webs},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, ok := NewTable(tc.holds).Over(tc.scope, tc.workloads...); !ok || got.Scope != tc.want {
				t.Errorf("%v, %v; want %v", got, ok, tc.want)
			}
		})
	}
	for name, table := range map[string]*Table{
		"a pause":              NewTable([]Hold{{Kind: Pause, Scope: shop}}),
		"a restore of one pod": NewTable([]Hold{{Kind: Restore, Scope: web}}),
	} {
		if h, ok := table.Over(webs); ok {
			t.Errorf("%s is over the workload: %v", name, h)
		}
	}
}

func TestEmergency(t *testing.T) {
	replicaSet, deployment := workload.Workload{Kind: "ReplicaSet", Name: "web-1"}, workload.Workload{Kind: "Deployment", Name: "web"}
	emergency := func(s Scope) Hold { return Hold{Kind: Restore, Scope: s, Emergency: true} }
	restore := func(s Scope) Hold { return Hold{Kind: Restore, Scope: s} }
	for _, tc := range []struct {
		name  string
		holds []Hold
		want  bool
	}{
		{"none", nil, false},
		{"a restore", []Hold{restore(cluster)}, false},
		{"of the cluster", []Hold{emergency(cluster)}, true},
		{"of the namespace", []Hold{emergency(shop)}, true},
		{"of another namespace", []Hold{emergency(bank), restore(shop)}, false},
		{"of the Deployment", []Hold{emergency(Scope{Namespace: "shop", Workload: deployment})}, true},
		{"of the pod", []Hold{emergency(web)}, true},
		{"of a wider scope than a restore", []Hold{emergency(cluster), restore(shop), restore(web)}, true},
		{"of a narrower scope than a restore", []Hold{restore(cluster), emergency(web)}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			table := NewTable(tc.holds).Frozen(nil)
			if got := table.Emergency("shop", "web", "1", replicaSet, deployment); got != tc.want {
				t.Errorf("an emergency: %t", got)
			}
		})
	}
	if (*Table)(nil).Emergency("shop", "web", "1") {
		t.Error("an emergency without holds")
	}
}
