package hold

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/reconciler/safety"
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
		{"nothing is held", nil, Ending{Scope: shop}, Ended{}, ""},
		{"the scope itself", []Hold{pause(bank), pause(shop)}, Ending{Scope: shop}, Ended{Holds: []Hold{pause(shop)}}, ""},
		{"both kinds", []Hold{pause(shop), restore(shop)}, Ending{Scope: shop}, Ended{Holds: []Hold{restore(shop), pause(shop)}}, ""},
		{"the kind that is asked for", []Hold{pause(shop), restore(shop)}, Ending{Scope: shop, Kind: Restore}, Ended{Holds: []Hold{restore(shop)}}, ""},
		{"not what is inside it", []Hold{pause(shop), pause(web), restore(web), pause(bank)}, Ending{Scope: shop}, Ended{Holds: []Hold{pause(shop)}, Nested: 2}, ""},
		{"unless that is asked for", []Hold{pause(bank), pause(shop), pause(web)}, Ending{Scope: shop, Nested: true}, Ended{Holds: []Hold{pause(shop), pause(web)}}, ""},
		{"what is inside is of the kind too", []Hold{pause(web), restore(web)}, Ending{Scope: cluster, Kind: Pause, Nested: true}, Ended{Holds: []Hold{pause(web)}}, ""},
		{"the cluster alone", []Hold{pause(cluster), pause(bank), pause(web)}, Ending{Scope: cluster}, Ended{Holds: []Hold{pause(cluster)}, Nested: 2}, ""},
		{"the cluster and everything", []Hold{pause(bank), pause(web)}, Ending{Scope: cluster, Nested: true}, Ended{Holds: []Hold{pause(bank), pause(web)}}, ""},
		{"a pod by its name, whichever it was", []Hold{pause(webBefore), pause(web)}, Ending{Scope: byName}, Ended{Holds: []Hold{pause(webBefore), pause(web)}}, ""},
		{"a wider one goes on", []Hold{pause(cluster), pause(shop), pause(web)}, Ending{Scope: byName}, Ended{Holds: []Hold{pause(web)}, Wider: wider(pause(shop))}, ""},
		{"a wider restore is told before a pause", []Hold{restore(cluster), pause(shop), pause(web)}, Ending{Scope: byName}, Ended{Holds: []Hold{pause(web)}, Wider: wider(restore(cluster))}, ""},
		{"what a wider one covers is not held by itself", []Hold{{Kind: Pause, Scope: shop, Author: "ann"}}, Ending{Scope: byName}, Ended{},
			`pod shop/web is not paused by itself: every pod of namespace shop is by ann; "resizectl resume -n shop --kind pause" ends that one hold`},
		{"nor what the cluster covers", []Hold{restore(cluster), pause(web)}, Ending{Scope: shop}, Ended{},
			`namespace shop is not restored by itself: every pod of the cluster is; "resizectl resume -A --kind restore" ends that one hold`},
		{"a namespace has workloads inside", []Hold{pause(shop), pause(webs), pause(web)}, Ending{Scope: shop}, Ended{Holds: []Hold{pause(shop)}, Nested: 2}, ""},
		{"which end with it on request", []Hold{pause(webs), pause(web)}, Ending{Scope: shop, Nested: true}, Ended{Holds: []Hold{pause(webs), pause(web)}}, ""},
		{"a workload, and no pod", []Hold{pause(webs), pause(webs1), pause(web)}, Ending{Scope: webs, Nested: true}, Ended{Holds: []Hold{pause(webs)}}, ""},
		{"a namespace covers a workload", []Hold{pause(shop)}, Ending{Scope: webs}, Ended{},
			`Deployment shop/web is not paused by itself: every pod of namespace shop is; "resizectl resume -n shop --kind pause" ends that one hold`},
		{"a workload covers a pod of it", []Hold{pause(webs), pause(shop)}, Ending{Scope: byName, Workloads: []safety.Workload{replicaSet, deployment}}, Ended{},
			`pod shop/web is not paused by itself: every pod of Deployment shop/web is; "resizectl resume Deployment/web -n shop --kind pause" ends that one hold`},
		{"the narrowest of these is told", []Hold{pause(webs), pause(webs1), pause(web)}, Ending{Scope: byName, Workloads: []safety.Workload{replicaSet, deployment}}, Ended{Holds: []Hold{pause(web)}, Wider: wider(pause(webs1))}, ""},
		{"another workload covers no pod", []Hold{pause(webs)}, Ending{Scope: byName, Workloads: []safety.Workload{{}, {}}}, Ended{}, ""},
		{"nor does another pod", []Hold{pause(Scope{Namespace: "shop", Pod: "cart", UID: "2"})}, Ending{Scope: byName, Workloads: []safety.Workload{{}, {}}}, Ended{}, ""},
		{"a wider one of another kind is no reason", []Hold{pause(cluster)}, Ending{Scope: shop, Kind: Restore}, Ended{Wider: wider(pause(cluster))}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			left, got, err := release(tc.holds, tc.end)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			var covered *CoveredError
			if errors.As(err, &covered) != (tc.covered != "") || err != nil && err.Error() != tc.covered {
				t.Errorf("error %v, want %q", err, tc.covered)
			}
			if err == nil && len(left)+len(got.Holds) != len(tc.holds) {
				t.Errorf("left %v", left)
			}
		})
	}
}
