package owners

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// metadataOf returns an object as the API server sends it.
func metadataOf(name, uid, by string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: name, UID: types.UID(uid), OwnerReferences: controlled(by),
		Labels: map[string]string{"app": "web"}, Annotations: map[string]string{"note": "long"},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}},
	}}
}

func TestStore(t *testing.T) {
	g := newGraph()
	var changed []string
	var reads int
	newStore := func(name string) *store {
		return &store{graph: g, kind: &kind{name}, filled: func() { reads++ }, changed: func(uid types.UID) { changed = append(changed, string(uid)) }}
	}
	sets, jobs := newStore("ReplicaSet"), newStore("Job")
	do := func(err error, want string, told ...string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if got := text(g.chain(nil, podOf("ReplicaSet/web-1 r1"))); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if !slices.Equal(changed, told) {
			t.Errorf("reported %v, want %v", changed, told)
		}
		changed = nil
	}
	first, err := sets.Transformer()(metadataOf("web-1", "r1", "Rollout/web o"))
	if err != nil {
		t.Fatal(err)
	}
	do(jobs.Replace([]any{metadataOf("night", "j1", "")}, "1"), "ReplicaSet/web-1", "j1")
	do(sets.Replace([]any{first, metadataOf("web-2", "r2", "Rollout/web o")}, "1"), "ReplicaSet/web-1 Rollout/web", "r1", "r2")
	do(sets.Update(metadataOf("web-1", "r1", "Rollout/web o")), "ReplicaSet/web-1 Rollout/web")
	do(sets.Update(metadataOf("web-1", "r1", "Rollout/cart o2")), "ReplicaSet/web-1 Rollout/cart", "r1")
	do(sets.Replace([]any{metadataOf("web-1", "r1", "Rollout/cart o2"), metadataOf("web-3", "r3", "")}, "2"), "ReplicaSet/web-1 Rollout/cart", "r3")
	do(sets.Delete(metadataOf("web-1", "r1", "Rollout/cart o2")), "ReplicaSet/web-1 Rollout/cart") // Until its pods end.
	do(sets.Add(metadataOf("web-1", "r1", "Rollout/cart o2")), "ReplicaSet/web-1 Rollout/cart", "r1")
	if len(g.objects) != 3 || reads != 3 {
		t.Errorf("%d objects after %d reads", len(g.objects), reads)
	}
	do(sets.Resync(), "ReplicaSet/web-1 Rollout/cart")
	sets.clear()
	do(nil, "ReplicaSet/web-1")
	if len(g.objects) != 1 || len(g.owned) != 0 {
		t.Errorf("after clear: %v, %v", g.objects, g.owned)
	}
	if sets.Add(&metav1.Status{}) == nil || sets.Delete(&metav1.Status{}) == nil || sets.Replace([]any{&metav1.Status{}}, "3") == nil {
		t.Error("a value without an object's metadata is accepted")
	}
}
