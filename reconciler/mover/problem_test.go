package mover

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/evict"
)

func TestProblem(t *testing.T) {
	noRight := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "web-1", errors.New(`User "resizer" cannot create resource "pods/eviction" in API group ""`))
	expect := func(w *world, want error) {
		w.Helper()
		if got := w.mover.Problem(); !errors.Is(got, want) {
			w.Errorf("the problem is %v, want %v", got, want)
		}
	}
	t.Run("a right is missing until it exists", func(t *testing.T) {
		w := calm(t)
		answers, answer := w.mover.Evict, error(noRight)
		w.mover.Evict = func(context.Context, *corev1.Pod, func(context.Context) error) error { return answer }
		w.after(10 * time.Minute)
		expect(w, errRefused)
		w.after(500 * time.Millisecond) // It is not tried each time.
		expect(w, errRefused)
		for _, answer = range []error{&actuate.StoppedError{Because: "the holds are unknown"}, errors.New("no answer")} {
			w.after(time.Minute)
			expect(w, errRefused)
		}
		w.mover.Evict = answers
		w.after(10 * time.Minute)
		w.expect(1, "")
		expect(w, nil)
	})
	t.Run("a policy for one pod is no problem of all", func(t *testing.T) {
		w := calm(t)
		w.mover.Evict = func(_ context.Context, p *corev1.Pod, _ func(context.Context) error) error {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, p.Name, errors.New(`ValidatingAdmissionPolicy 'x' with binding 'y' denied request: it is forbidden: User "shop" cannot evict resource "pods"`))
		}
		w.after(10 * time.Minute)
		w.expect(0, "denied request")
		expect(w, nil)
	})
	for _, answer := range []error{
		apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, "web-1", errors.New("changed")),
		apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "web-1", errors.New("a policy denied request")),
	} {
		t.Run("any answer but that shows that the right exists: "+string(apierrors.ReasonForError(answer)), func(t *testing.T) {
			w, given := calm(t), error(noRight)
			w.mover.Evict = func(context.Context, *corev1.Pod, func(context.Context) error) error { return given }
			w.after(10 * time.Minute)
			expect(w, errRefused)
			given = answer
			w.after(10 * time.Minute)
			expect(w, nil)
		})
	}
	t.Run("a right may be missing in one namespace", func(t *testing.T) {
		w := crowd(t)
		w.pair("bank", "x", 0)
		w.pair("shop", "y", 1)
		w.resize()
		w.lead()
		answers := w.mover.Evict
		w.mover.Evict = func(ctx context.Context, p *corev1.Pod, permit func(context.Context) error) error {
			if p.Namespace == "bank" {
				return noRight
			}
			return answers(ctx, p, permit)
		}
		w.after(10 * time.Minute)
		if w.evicted != 1 {
			t.Fatalf("%d were evicted", w.evicted)
		}
		expect(w, errRefused)
	})
	t.Run("one that is solved hides no other", func(t *testing.T) {
		w := crowd(t)
		w.pair("bank", "x", 0)
		w.pair("shop", "y", 1)
		w.resize()
		w.lead()
		claims := w.objects["x-0"].DeepCopy()
		claims.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
		w.put(claims)
		w.mover.Client.(*fake.Clientset).PrependReactor("get", "persistentvolumeclaims", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, noRight })
		answers := w.mover.Evict
		w.mover.Evict = func(context.Context, *corev1.Pod, func(context.Context) error) error { return noRight }
		w.after(10 * time.Minute)
		expect(w, errRefused)
		w.mover.Evict = answers
		w.mover.retrying("bank/x-0", func(r *retry) { r.at = w.cluster.Clock.Now().Add(time.Minute) })
		w.after(2 * time.Second)
		if w.evicted != 1 {
			t.Fatalf("%d were evicted", w.evicted)
		}
		expect(w, errUnjudged)
	})
	t.Run("nor is a right that another pod did not lack", func(t *testing.T) {
		w := crowded(t)
		w.roomOf("n2", "6")
		answers, asked := w.mover.Evict, 0
		w.mover.Evict = func(ctx context.Context, p *corev1.Pod, permit func(context.Context) error) error {
			if asked++; asked == 1 {
				return noRight
			}
			return answers(ctx, p, permit)
		}
		w.after(10 * time.Minute)
		if w.evicted != 1 {
			t.Fatalf("%d were evicted", w.evicted)
		}
		expect(w, nil)
	})
	t.Run("nothing can be stored until something was", func(t *testing.T) {
		w := calm(t)
		w.after(time.Second)
		w.mover.store = unstorable{w}
		w.after(10 * time.Minute)
		expect(w, errUnstored)
		w.mover.doubtful = true // It asks for the book, but there is nothing to store.
		w.after(500 * time.Millisecond)
		expect(w, errUnstored)
		w.mover.store = w
		w.after(10 * time.Minute)
		w.expect(1, "")
		expect(w, nil)
	})
}

// unstorable stores nothing.
type unstorable struct{ *world }

// update implements keeper.
func (w unstorable) update(_ context.Context, change func(*evict.Book) bool) error {
	if !change(w.read()) {
		return nil
	}
	return errors.New("no right")
}
