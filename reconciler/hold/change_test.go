package hold

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

func TestRelease(t *testing.T) {
	pause := func(s Scope) Hold { return Hold{Kind: Pause, Scope: s} }
	restore := func(s Scope) Hold { return Hold{Kind: Restore, Scope: s} }
	byName := Scope{Namespace: "shop", Pod: "web"}
	wider := func(h Hold) *Hold { return &h }
	for _, tc := range []struct {
		name    string
		holds   []Hold
		end     Ending
		want    Ended
		covered string
	}{
		{"does nothing without holds", nil, Ending{Scope: shop}, Ended{}, ""},
		{"ends the hold of the scope", []Hold{pause(bank), pause(shop)}, Ending{Scope: shop}, Ended{Holds: []Hold{pause(shop)}}, ""},
		{"ends both kinds", []Hold{pause(shop), restore(shop)}, Ending{Scope: shop}, Ended{Holds: []Hold{restore(shop), pause(shop)}}, ""},
		{"ends a breaker", []Hold{pause(webs), {Kind: Breaker, Scope: webs}}, Ending{Scope: webs}, Ended{Holds: []Hold{pause(webs), {Kind: Breaker, Scope: webs}}}, ""},
		{"does not end a breaker twice", []Hold{{Kind: Breaker, Scope: webs, Reset: began}}, Ending{Scope: webs}, Ended{}, ""},
		{"refuses a workload that only the cluster's breaker covers", []Hold{{Kind: Breaker, Author: "workload-resizer"}}, Ending{Scope: webs}, Ended{},
			`Deployment shop/web is not degraded on its own: every pod in the cluster is, by workload-resizer; run "resizectl resume -A --kind breaker" to end that hold`},
		{"ends only the given kind", []Hold{pause(shop), restore(shop)}, Ending{Scope: shop, Kind: Restore}, Ended{Holds: []Hold{restore(shop)}}, ""},
		{"keeps nested holds", []Hold{pause(shop), pause(web), restore(web), pause(bank)}, Ending{Scope: shop}, Ended{Holds: []Hold{pause(shop)}, Nested: 2}, ""},
		{"ends nested holds on request", []Hold{pause(bank), pause(shop), pause(web)}, Ending{Scope: shop, Nested: true}, Ended{Holds: []Hold{pause(shop), pause(web)}}, ""},
		{"ends only nested holds of the given kind", []Hold{pause(web), restore(web)}, Ending{Scope: cluster, Kind: Pause, Nested: true}, Ended{Holds: []Hold{pause(web)}}, ""},
		{"ends only the hold of the cluster", []Hold{pause(cluster), pause(bank), pause(web)}, Ending{Scope: cluster}, Ended{Holds: []Hold{pause(cluster)}, Nested: 2}, ""},
		{"ends all holds in the cluster on request", []Hold{pause(bank), pause(web)}, Ending{Scope: cluster, Nested: true}, Ended{Holds: []Hold{pause(bank), pause(web)}}, ""},
		{"ends the holds of all pods of a name", []Hold{pause(webBefore), pause(web)}, Ending{Scope: byName}, Ended{Holds: []Hold{pause(webBefore), pause(web)}}, ""},
		{"returns a wider hold", []Hold{pause(cluster), pause(shop), pause(web)}, Ending{Scope: byName}, Ended{Holds: []Hold{pause(web)}, Wider: wider(pause(shop))}, ""},
		{"returns a wider restore rather than a pause", []Hold{restore(cluster), pause(shop), pause(web)}, Ending{Scope: byName}, Ended{Holds: []Hold{pause(web)}, Wider: wider(restore(cluster))}, ""},
		{"refuses a scope that only a wider hold covers", []Hold{{Kind: Pause, Scope: shop, Author: "ann"}}, Ending{Scope: byName}, Ended{},
			`pod shop/web is not paused on its own: every pod in namespace shop is, by ann; run "resizectl resume -n shop --kind pause" to end that hold`},
		{"refuses a scope that only the cluster's hold covers", []Hold{restore(cluster), pause(web)}, Ending{Scope: shop}, Ended{},
			`namespace shop is not restored on its own: every pod in the cluster is; run "resizectl resume -A --kind restore" to end that hold`},
		{"counts workloads as nested in a namespace", []Hold{pause(shop), pause(webs), pause(web)}, Ending{Scope: shop}, Ended{Holds: []Hold{pause(shop)}, Nested: 2}, ""},
		{"ends nested holds of workloads on request", []Hold{pause(webs), pause(web)}, Ending{Scope: shop, Nested: true}, Ended{Holds: []Hold{pause(webs), pause(web)}}, ""},
		{"ends the hold of a workload, but not of its pods", []Hold{pause(webs), pause(webs1), pause(web)}, Ending{Scope: webs, Nested: true}, Ended{Holds: []Hold{pause(webs)}}, ""},
		{"refuses a workload that only its namespace's hold covers", []Hold{pause(shop)}, Ending{Scope: webs}, Ended{},
			`Deployment shop/web is not paused on its own: every pod in namespace shop is; run "resizectl resume -n shop --kind pause" to end that hold`},
		{"refuses a pod that only its workload's hold covers", []Hold{pause(webs), pause(shop)}, Ending{Scope: byName, Workloads: []workload.Workload{replicaSet, deployment}}, Ended{},
			`pod shop/web is not paused on its own: every pod of Deployment shop/web is; run "resizectl resume Deployment/web -n shop --kind pause" to end that hold`},
		{"returns the narrowest hold of its workloads", []Hold{pause(webs), pause(webs1), pause(web)}, Ending{Scope: byName, Workloads: []workload.Workload{replicaSet, deployment}}, Ended{Holds: []Hold{pause(web)}, Wider: wider(pause(webs1))}, ""},
		{"ignores another workload", []Hold{pause(webs)}, Ending{Scope: byName, Workloads: []workload.Workload{{}, {}}}, Ended{}, ""},
		{"ignores another pod", []Hold{pause(Scope{Namespace: "shop", Pod: "cart", UID: "2"})}, Ending{Scope: byName, Workloads: []workload.Workload{{}, {}}}, Ended{}, ""},
		{"accepts a scope that only a wider hold of another kind covers", []Hold{pause(cluster)}, Ending{Scope: shop, Kind: Restore}, Ended{Wider: wider(pause(cluster))}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := release(tc.holds, tc.end)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			var covered *CoveredError
			if errors.As(err, &covered) != (tc.covered != "") || err != nil && err.Error() != tc.covered {
				t.Errorf("error %v, want %q", err, tc.covered)
			}
		})
	}
}
