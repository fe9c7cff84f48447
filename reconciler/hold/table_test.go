package hold

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

var (
	cluster   = Scope{}
	shop      = Scope{Namespace: "shop"}
	web       = Scope{Namespace: "shop", Pod: "web", UID: "1"}
	webBefore = Scope{Namespace: "shop", Pod: "web", UID: "0"}
	bank      = Scope{Namespace: "bank"}

	deployment = safety.Workload{Kind: "Deployment", Name: "web"}
	replicaSet = safety.Workload{Kind: "ReplicaSet", Name: "web-1"}
	webs       = Scope{Namespace: "shop", Workload: deployment}
	webs1      = Scope{Namespace: "shop", Workload: replicaSet}
)

func TestTable(t *testing.T) {
	t.Run("the hold of a pod", theHoldOfAPod)
	t.Run("asking for a hold allocates nothing", askingForAHoldAllocatesNothing)
	t.Run("holds are ordered by scope", holdsAreOrderedByScope)
	t.Run("a restore over a scope", aRestoreOverAScope)
}

func theHoldOfAPod(t *testing.T) {
	for _, tc := range []struct {
		name  string
		holds []Hold
		want  Hold
	}{
		{"none", nil, Hold{}},
		{"that of the cluster covers it", []Hold{{Kind: Pause, Scope: cluster}}, Hold{Kind: Pause, Scope: cluster}},
		{"that of its namespace covers it", []Hold{{Kind: Restore, Scope: shop}}, Hold{Kind: Restore, Scope: shop}},
		{"that of another namespace does not", []Hold{{Kind: Restore, Scope: bank}}, Hold{}},
		{"its own", []Hold{{Kind: Pause, Scope: web}}, Hold{Kind: Pause, Scope: web}},
		{"not that of an earlier pod of its name", []Hold{{Kind: Pause, Scope: webBefore}}, Hold{}},
		{"the most specific of a kind", []Hold{{Kind: Pause, Scope: cluster}, {Kind: Pause, Scope: web}, {Kind: Pause, Scope: shop}}, Hold{Kind: Pause, Scope: web}},
		{"the most specific restore", []Hold{{Kind: Restore, Scope: cluster}, {Kind: Restore, Scope: shop}}, Hold{Kind: Restore, Scope: shop}},
		{"a wider restore goes before a pause", []Hold{{Kind: Restore, Scope: cluster}, {Kind: Pause, Scope: shop}, {Kind: Pause, Scope: web}}, Hold{Kind: Restore, Scope: cluster}},
		{"a restore of a scope goes before a pause of it", []Hold{{Kind: Pause, Scope: web}, {Kind: Restore, Scope: web}}, Hold{Kind: Restore, Scope: web}},
		{"that of its controller", []Hold{{Kind: Pause, Scope: webs1}}, Hold{Kind: Pause, Scope: webs1}},
		{"that of its controller's own", []Hold{{Kind: Pause, Scope: webs}}, Hold{Kind: Pause, Scope: webs}},
		{"not that of another workload", []Hold{{Kind: Pause, Scope: Scope{Namespace: "shop", Workload: safety.Workload{Kind: "StatefulSet", Name: "web"}}}}, Hold{}},
		{"not that of a workload of another namespace", []Hold{{Kind: Pause, Scope: Scope{Namespace: "bank", Workload: deployment}}}, Hold{}},
		{"a workload is narrower than its namespace", []Hold{{Kind: Pause, Scope: shop}, {Kind: Pause, Scope: webs}}, Hold{Kind: Pause, Scope: webs}},
		{"a controller is narrower than its own", []Hold{{Kind: Pause, Scope: webs}, {Kind: Pause, Scope: webs1}}, Hold{Kind: Pause, Scope: webs1}},
		{"a pod is narrower than its workload", []Hold{{Kind: Restore, Scope: webs1}, {Kind: Restore, Scope: web}}, Hold{Kind: Restore, Scope: web}},
		{"a restore of a workload goes before a pause of a pod", []Hold{{Kind: Pause, Scope: web}, {Kind: Restore, Scope: webs}}, Hold{Kind: Restore, Scope: webs}},
		{"a narrower restore goes before a pause", []Hold{{Kind: Pause, Scope: cluster}, {Kind: Restore, Scope: web}}, Hold{Kind: Restore, Scope: web}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, ok := NewTable(tc.holds).Of("shop", "web", "1", replicaSet, deployment)
			if got != tc.want || ok != (tc.want != Hold{}) {
				t.Errorf("%+v, %v; want %+v", got, ok, tc.want)
			}
		})
	}
	if h, ok := (*Table)(nil).Of("shop", "web", "1"); ok {
		t.Errorf("a table that is not there has %+v", h)
	}
}

func askingForAHoldAllocatesNothing(t *testing.T) {
	table := NewTable([]Hold{{Kind: Pause, Scope: cluster}, {Kind: Restore, Scope: webs}, {Kind: Pause, Scope: bank}})
	if n := testing.AllocsPerRun(100, func() {
		table.Of("shop", "web", "1", replicaSet, deployment)
		table.Of("bank", "teller", "2", safety.Workload{}, safety.Workload{})
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func holdsAreOrderedByScope(t *testing.T) {
	var got []Scope
	for _, h := range NewTable([]Hold{{Scope: web}, {Scope: webs1}, {Scope: shop}, {Scope: webBefore}, {Scope: webs}, {Scope: cluster}, {Scope: bank}}).All() {
		got = append(got, h.Scope)
	}
	if diff := cmp.Diff([]Scope{cluster, bank, shop, webs, webs1, webBefore, web}, got); diff != "" {
		t.Error(diff)
	}
}

func aRestoreOverAScope(t *testing.T) {
	for _, tc := range []struct {
		name      string
		holds     []Hold
		scope     Scope
		workloads []safety.Workload
		want      Scope
	}{
		{"of its namespace over a workload", []Hold{{Kind: Restore, Scope: shop}}, webs, nil, shop},
		{"its own, which is narrower", []Hold{{Kind: Restore, Scope: shop}, {Kind: Restore, Scope: webs}}, webs, nil, webs},
		{"of a workload over its pod", []Hold{{Kind: Restore, Scope: webs}}, web, []safety.Workload{replicaSet, deployment}, webs},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, ok := NewTable(tc.holds).Over(tc.scope, tc.workloads...); !ok || got.Scope != tc.want {
				t.Errorf("%v, %v; want %v", got, ok, tc.want)
			}
		})
	}
	for name, table := range map[string]*Table{
		"a pause":                  NewTable([]Hold{{Kind: Pause, Scope: shop}}),
		"a restore of one of them": NewTable([]Hold{{Kind: Restore, Scope: web}}),
	} {
		if h, ok := table.Over(webs); ok {
			t.Errorf("%s is over the workload: %v", name, h)
		}
	}
}
