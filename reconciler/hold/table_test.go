package hold

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	cluster   = Scope{}
	shop      = Scope{Namespace: "shop"}
	web       = Scope{Namespace: "shop", Pod: "web", UID: "1"}
	webBefore = Scope{Namespace: "shop", Pod: "web", UID: "0"}
	bank      = Scope{Namespace: "bank"}
)

func TestTheHoldOfAPod(t *testing.T) {
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
		{"a narrower restore goes before a pause", []Hold{{Kind: Pause, Scope: cluster}, {Kind: Restore, Scope: web}}, Hold{Kind: Restore, Scope: web}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, ok := NewTable(tc.holds).Of("shop", "web", "1")
			if got != tc.want || ok != (tc.want != Hold{}) {
				t.Errorf("%+v, %v; want %+v", got, ok, tc.want)
			}
		})
	}
	if h, ok := (*Table)(nil).Of("shop", "web", "1"); ok {
		t.Errorf("a table that is not there has %+v", h)
	}
}

func TestAskingForAHoldAllocatesNothing(t *testing.T) {
	table := NewTable([]Hold{{Kind: Pause, Scope: cluster}, {Kind: Restore, Scope: web}, {Kind: Pause, Scope: bank}})
	if n := testing.AllocsPerRun(100, func() {
		table.Of("shop", "web", "1")
		table.Of("bank", "teller", "2")
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestHoldsAreOrderedByScope(t *testing.T) {
	var got []Scope
	for _, h := range NewTable([]Hold{{Scope: web}, {Scope: shop}, {Scope: webBefore}, {Scope: cluster}, {Scope: bank}}).All() {
		got = append(got, h.Scope)
	}
	if diff := cmp.Diff([]Scope{cluster, bank, shop, webBefore, web}, got); diff != "" {
		t.Error(diff)
	}
}
