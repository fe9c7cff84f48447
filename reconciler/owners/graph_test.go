package owners

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// controlled returns owner references with a controller: "Kind/name uid".
func controlled(by string) []metav1.OwnerReference {
	if by == "" {
		return nil
	}
	ref, uid, _ := strings.Cut(by, " ")
	kind, name, _ := strings.Cut(ref, "/")
	yes := true
	return []metav1.OwnerReference{
		{Kind: "ConfigMap", Name: "no-controller", UID: "other"},
		{APIVersion: map[string]string{"ReplicaSet": "apps/v1", "Job": "batch/v1"}[kind], Kind: kind, Name: name, UID: types.UID(uid), Controller: &yes},
	}
}

// of returns an object in the namespace shop, "Kind/name uid", or in another namespace,
// "namespace:Kind/name uid".
func of(self, by string) *object {
	namespace, rest, ok := strings.Cut(self, ":")
	if !ok {
		namespace, rest = "shop", self
	}
	ref, uid, _ := strings.Cut(rest, " ")
	k, name, _ := strings.Cut(ref, "/")
	return newObject(&kind{k}, &metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(uid), OwnerReferences: controlled(by)})
}

func podOf(by string, labels ...string) *pod.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "pod", OwnerReferences: controlled(by)}}
	if len(labels) > 0 {
		p.Labels = map[string]string{"pod-template-hash": labels[0]}
	}
	return pod.From(p)
}

func text(chain []workload.Workload) string {
	var names []string
	for _, w := range chain {
		names = append(names, w.Kind+"/"+w.Name)
	}
	return strings.Join(names, " ")
}

func TestChain(t *testing.T) {
	var endless []*object
	var longest []string
	for i := range 20 {
		endless = append(endless, of(fmt.Sprintf("App/%d u%d", i, i), fmt.Sprintf("App/%d u%d", i+1, i+1)))
		if i < maxDepth {
			longest = append(longest, fmt.Sprintf("App/%d", i))
		}
	}
	deployment := podOf("ReplicaSet/web-66fb r", "66fb")
	for _, tc := range []struct {
		name    string
		pod     *pod.Pod
		objects []*object
		want    string
	}{
		{"is empty without a controller", podOf(""), nil, ""},
		{"derives the Deployment of an unknown ReplicaSet from its name", deployment, nil, "ReplicaSet/web-66fb Deployment/web"},
		{"derives the CronJob of an unknown Job from its name", podOf("Job/night-29876543 j"), nil, "Job/night-29876543 CronJob/night"},
		{"derives nothing from an unknown StatefulSet", podOf("StatefulSet/db s"), nil, "StatefulSet/db"},
		{"has the unknown Rollout of a known ReplicaSet", podOf("ReplicaSet/web-66fb r"), []*object{of("ReplicaSet/web-66fb r", "Rollout/web o")}, "ReplicaSet/web-66fb Rollout/web"},
		{"prefers the owner reference to the name", deployment, []*object{of("ReplicaSet/web-66fb r", "Rollout/shop o")}, "ReplicaSet/web-66fb Rollout/shop"},
		{"prefers a missing owner reference to the name", deployment, []*object{of("ReplicaSet/web-66fb r", "")}, "ReplicaSet/web-66fb"},
		{"continues above known objects", podOf("StatefulSet/db s"), []*object{of("StatefulSet/db s", "Prometheus/main p"), of("Prometheus/main p", "Stack/all k")}, "StatefulSet/db Prometheus/main Stack/all"},
		{"derives owners from names above known objects, too", podOf("Launcher/l l"), []*object{of("Launcher/l l", "Job/night-29876543 j")}, "Launcher/l Job/night-29876543 CronJob/night"},
		{"has cluster-scoped objects above objects in any namespace", podOf("StatefulSet/db s"), []*object{of("StatefulSet/db s", "Fleet/all f"), of(":Fleet/all f", "World/w w")}, "StatefulSet/db Fleet/all World/w"},
		{"ignores an object with another uid", deployment, []*object{of("ReplicaSet/web-66fb r2", "Rollout/other o")}, "ReplicaSet/web-66fb Deployment/web"},
		{"ignores an object with another name", podOf("ReplicaSet/mine r"), []*object{of("ReplicaSet/web-66fb r", "Rollout/web o")}, "ReplicaSet/mine"},
		{"ignores an object of another kind", podOf("StatefulSet/web-66fb r"), []*object{of("ReplicaSet/web-66fb r", "Rollout/web o")}, "StatefulSet/web-66fb"},
		{"ignores an object in another namespace", podOf("ReplicaSet/web r"), []*object{of("bank:ReplicaSet/web r", "Rollout/web o")}, "ReplicaSet/web"},
		{"has an object that controls itself once", podOf("App/a a"), []*object{of("App/a a", "App/a a")}, "App/a"},
		{"ends in a cycle", podOf("App/a a"), []*object{of("App/a a", "App/b b"), of("App/b b", "App/c c"), of("App/c c", "App/b b")}, "App/a App/b App/c"},
		{"ends at the maximum depth", podOf("App/0 u0"), endless, strings.Join(longest, " ")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := newGraph()
			for _, o := range tc.objects {
				g.set(o)
			}
			if got := text(g.chain(nil, tc.pod)); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			before := workload.Workload{Kind: "Before"}
			if got := g.chain([]workload.Workload{before}, tc.pod); got[0] != before || text(got[1:]) != tc.want {
				t.Errorf("appended: %v", got)
			}
		})
	}
}

func TestHas(t *testing.T) {
	o := New(Config{})
	o.graph.set(of("StatefulSet/db s", "ReplicaSet/main m"))
	o.graph.set(of("Launcher/l l", "Job/night-29876543 j"))
	for _, tc := range []struct {
		pod         *pod.Pod
		name, group string
		want        bool
	}{
		{podOf("ReplicaSet/web-66fb r", "66fb"), "ReplicaSet/web-66fb", "apps", true},
		{podOf("ReplicaSet/web-66fb r", "66fb"), "Deployment/web", "apps", true},
		{podOf("ReplicaSet/web-66fb r", "66fb"), "Deployment/web", "", false},
		{podOf("ReplicaSet/web-66fb r", "66fb"), "Deployment/web", "example.com", false},
		{podOf("ReplicaSet/web-66fb r", "66fb"), "Rollout/web", "apps", false},
		{podOf("ReplicaSet/web-66fb r", "66fb"), "Deployment/other", "apps", false},
		{podOf("StatefulSet/db s"), "StatefulSet/db", "", true},
		{podOf("StatefulSet/db s"), "StatefulSet/db", "apps", false},
		{podOf("StatefulSet/db s"), "ReplicaSet/main", "apps", true},
		{podOf("Launcher/l l"), "CronJob/night", "batch", true},
		{podOf("Launcher/l l"), "CronJob/night", "apps", false},
		{podOf(""), "Deployment/web", "apps", false},
	} {
		kind, name, _ := strings.Cut(tc.name, "/")
		if got := o.Has(tc.pod, workload.Workload{Kind: kind, Name: name}, tc.group); got != tc.want {
			t.Errorf("%s of %v, group %q: %v", tc.name, tc.pod.Controller(), tc.group, got)
		}
	}
}

func TestGraph(t *testing.T) {
	t.Run("returns the objects whose pods are affected", returnsTheObjectsWhosePodsAreAffected)
	t.Run("pods of deleted objects keep their workloads", podsOfDeletedObjectsKeepTheirWorkloads)
	t.Run("keeps only some deleted objects", keepsOnlySomeDeletedObjects)
}

func returnsTheObjectsWhosePodsAreAffected(t *testing.T) {
	g := newGraph()
	set := func(o *object, want string) {
		t.Helper()
		var got []string
		for _, uid := range g.set(o) {
			got = append(got, string(uid))
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s %s: %v, want %q", o.kind.name, o.name, got, want)
		}
	}
	sets := &kind{"ReplicaSet"}
	web := func(by string) *object {
		return newObject(sets, &metav1.ObjectMeta{Namespace: "shop", Name: "web-1", UID: "r1", OwnerReferences: controlled(by)})
	}
	set(web("Rollout/web o"), "r1")
	set(web("Rollout/web o"), "") // Only its status has changed.
	set(of("ReplicaSet/web-2 r2", "Rollout/web o"), "r2")
	set(of("ReplicaSet/cart-1 r3", "Rollout/cart o2"), "r3")
	set(of("Rollout/web o", "App/shop a"), "o r1 r2")
	set(web("Rollout/cart o2"), "r1")
	set(of("App/shop a", ""), "a o r2")
	g.remove("r2")
	g.remove("r2")
	set(of("App/shop a", "Stack/all k"), "a o")
	set(web(""), "r1")
	for _, uid := range []types.UID{"r1", "r3", "o", "a"} {
		g.remove(uid)
	}
	if len(g.objects)+len(g.owned) != 0 {
		t.Errorf("deleted objects are kept: %v %v", g.objects, g.owned)
	}
	// A cycle ends, too.
	g.set(of("App/a a", "App/b b"))
	if affected := g.set(of("App/b b", "App/a a")); len(affected) != maxDepth {
		t.Errorf("in a cycle: %v", affected)
	}
}

func podsOfDeletedObjectsKeepTheirWorkloads(t *testing.T) {
	g := newGraph()
	set := of("ReplicaSet/web-66fb r", "Rollout/web o")
	g.set(set)
	g.set(of("Rollout/web o", "App/shop a"))
	// The pod ends only after all of its owners.
	g.remove("o")
	g.remove("r")
	p := podOf("ReplicaSet/web-66fb r", "66fb")
	if got := text(g.chain(nil, p)); got != "ReplicaSet/web-66fb Rollout/web App/shop" {
		t.Errorf("after the deletion: %s", got)
	}
	g.forget(set.kind)
	if got := text(g.chain(nil, p)); got != "ReplicaSet/web-66fb Deployment/web" {
		t.Errorf("if the kind can no longer be read: %s", got)
	}
}

func keepsOnlySomeDeletedObjects(t *testing.T) {
	g := newGraph()
	for i := range mostDeleted + 10 {
		o := of(fmt.Sprintf("Job/j%d u%d", i, i), "")
		g.set(o)
		g.remove(o.uid)
	}
	if len(g.deleted) != mostDeleted || len(g.order) != mostDeleted || g.deleted["u9"] != nil || g.deleted["u10"] == nil {
		t.Errorf("%d objects, %d uids", len(g.deleted), len(g.order))
	}
}
