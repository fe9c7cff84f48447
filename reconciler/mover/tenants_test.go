package mover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/evict"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// another adds two pods of another workload: one is on n0.
func (w *world) another() {
	for i, name := range []string{"api-1", "api-2"} {
		p := podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, clustertest.Named("shop", name, w.nodes[i].Name))
		p.OwnerReferences[0].Name, p.OwnerReferences[0].UID = "api", "rs-api"
		ready(p, true)
		w.put(p)
	}
	w.resize()
}

// crowd returns a world in which nothing happens by itself, with nodes n0 to n4, which are full, and n5.
func crowd(t *testing.T) *world {
	w := &world{T: t, objects: map[string]*corev1.Pod{}, full: map[string]bool{}, stored: []byte("[]")}
	w.begin(6)
	for i := range 5 {
		w.full[w.nodes[i].Name] = true
	}
	return w
}

// pair adds two pods of a workload, one on a node, and one on n5.
func (w *world) pair(namespace, name string, node int) {
	for i, on := range []int{node, 5} {
		p := podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, clustertest.Named(namespace, fmt.Sprint(name, "-", i), w.nodes[on].Name))
		p.OwnerReferences[0].Name, p.OwnerReferences[0].UID = name, types.UID("rs-"+name)
		ready(p, true)
		w.put(p)
	}
}

// TestTenants does what a user with the rights of one namespace can do to keep the pods of others from moving.
func TestTenants(t *testing.T) {
	t.Run("an absurd name of an owner does not fill the book", func(t *testing.T) {
		w := calm(t, func(p *corev1.Pod) { p.OwnerReferences[0].Name = strings.Repeat("x", 600<<10) })
		w.after(time.Hour)
		if len(w.stored) > 10<<10 {
			t.Errorf("the book has %d bytes", len(w.stored))
		}
	})
	t.Run("a pod that was chosen and can no longer move does not keep others where they are", func(t *testing.T) {
		w := calm(t)
		w.blocked = true
		w.after(10 * time.Minute)
		w.expect(0, "a PodDisruptionBudget does not allow it now")
		w.blocked = false
		p := w.objects["web-1"].DeepCopy()
		p.Annotations = map[string]string{evict.SafeToEvict: "false"}
		w.put(p)
		w.another()
		for range 20 {
			w.after(10 * time.Minute)
		}
		w.expect(1, "") // It has the room of api-1.
		if w.objects["api-1"] != nil {
			t.Error("web-1 was evicted")
		}
	})
	t.Run("a pod with a finalizer does not keep others where they are", func(t *testing.T) {
		w := calm(t)
		w.blocked = true
		w.after(10 * time.Minute)
		w.blocked = false
		p := w.objects["web-1"].DeepCopy()
		now := metav1.NewTime(w.cluster.Clock.Now())
		p.DeletionTimestamp, p.Finalizers = &now, []string{"example.com/forever"}
		w.put(p)
		w.another()
		for range 20 {
			w.after(10 * time.Minute)
		}
		w.expect(1, "")
	})
	t.Run("a namespace has at most half of the hour while pods of others wait", func(t *testing.T) {
		w := crowd(t)
		for i, name := range []string{"a", "b", "c", "d"} {
			w.pair("mine", name, i)
		}
		w.pair("shop", "e", 4) // It comes last.
		w.resize()
		w.lead()
		w.after(10 * time.Minute)
		var moved []string
		for _, e := range w.read().Entries {
			moved = append(moved, e.Pod)
		}
		if want := []string{"a-0", "b-0", "e-0"}; !slices.Equal(moved, want) || w.evicted != len(want) {
			t.Errorf("moved %v, want %v", moved, want)
		}
		w.after(time.Minute) // Nobody else waits.
		if w.evicted != most {
			t.Errorf("%d moved, want %d", w.evicted, most)
		}
	})
	t.Run("a problem that everybody sees names no pod", func(t *testing.T) {
		w := calm(t)
		w.mover.Evict = func(context.Context, *corev1.Pod, func(context.Context) error) error {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "web-1", errors.New(`User "resizer" cannot create resource "pods/eviction" in API group "" in the namespace "shop"`))
		}
		w.after(10 * time.Minute)
		w.expect(0, `in the namespace "shop"`)
		w.names("shop", "web")
	})
	t.Run("nor does one of a pod that cannot be judged", func(t *testing.T) {
		w := calm(t, func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "secret"}}}}
		})
		w.mover.Client.(*fake.Clientset).PrependReactor("get", "persistentvolumeclaims", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "persistentvolumeclaims"}, "secret", errors.New("no right in namespace shop"))
		})
		w.after(10 * time.Minute)
		w.expect(0, "no right in namespace shop")
		w.names("shop", "secret")
	})
}

// names fails the test if what everybody sees names something, or is nothing.
func (w *world) names(these ...string) {
	w.Helper()
	err := w.mover.Problem()
	if err == nil {
		w.Fatal("no problem")
	}
	for _, name := range these {
		if strings.Contains(err.Error(), name) {
			w.Errorf("%q names %s", err, name)
		}
	}
}
