package cluster

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

func TestLister(t *testing.T) {
	t.Run("lists pods in order after the named pod", listsPodsInOrderAfterTheNamedPod)
	t.Run("lists the namespaces that have pods", listsTheNamespacesThatHavePods)
	t.Run("finds pods by their controller", findsPodsByTheirController)
}

func listsPodsInOrderAfterTheNamedPod(t *testing.T) {
	r := known(t,
		podtest.Pod(podtest.Guaranteed, named("shop", "web-1-y")), podtest.Pod(podtest.Guaranteed, named("shop", "web-1-x")), podtest.Pod(podtest.Guaranteed, named("shop", "db")),
		podtest.Pod(podtest.Guaranteed, named("bank", "db")), podtest.Pod(podtest.Guaranteed, named("bank", "pending")))
	for _, tc := range []struct {
		namespace, after, want string
	}{
		{"bank", "/", "bank/db bank/pending"},
		{"bank", "bank/db", "bank/pending"},
		{"bank", "shop/db", ""},
		{"shop", "bank/pending", "shop/db shop/web-1-x shop/web-1-y"},
		{"none", "/", ""},
	} {
		namespace, name, _ := strings.Cut(tc.after, "/")
		var got []string
		for _, k := range r.Pods(tc.namespace).After(types.NamespacedName{Namespace: namespace, Name: name}) {
			got = append(got, k.NamespacedName().String())
		}
		if names := strings.Join(got, " "); names != tc.want {
			t.Errorf("namespace %q after %s: %q, want %q", tc.namespace, tc.after, names, tc.want)
		}
	}
}

func listsTheNamespacesThatHavePods(t *testing.T) {
	r := known(t, podtest.Pod(podtest.Guaranteed, named("shop", "a")), podtest.Pod(podtest.Guaranteed, named("bank", "b")), podtest.Pod(podtest.Guaranteed, named("shop", "c")))
	for namespace, want := range map[string]string{"": "bank shop", "shop": "shop", "none": "none"} {
		if got := strings.Join(r.Pods(namespace).Namespaces(), " "); got != want {
			t.Errorf("namespace %q: %q, want %q", namespace, got, want)
		}
	}
}

func findsPodsByTheirController(t *testing.T) {
	owner := func(uid types.UID, controller bool) metav1.OwnerReference {
		return metav1.OwnerReference{Kind: "ReplicaSet", Name: "web", UID: uid, Controller: &controller}
	}
	owned := func(by ...metav1.OwnerReference) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.OwnerReferences = by }
	}
	r := known(t,
		podtest.Pod(podtest.Guaranteed, named("shop", "a"), owned(owner("other", false), owner("web", true))),
		podtest.Pod(podtest.Guaranteed, named("shop", "b"), owned(owner("web", true))),
		podtest.Pod(podtest.Guaranteed, named("shop", "c"), owned(owner("web", false))),
		podtest.Pod(podtest.Guaranteed, named("shop", "d"), owned(owner("other", true))),
		podtest.Pod(podtest.Guaranteed, named("shop", "e"), owned()),
	)
	for uid, want := range map[types.UID]string{"web": "a b", "other": "d", "another": "", "eb": "", "none": "", "": ""} {
		var names []string
		for _, k := range r.pods.ControlledBy(uid) {
			names = append(names, k.Name)
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != want {
			t.Errorf("uid %q controls %q, want %q", uid, got, want)
		}
	}
	// When the owners of a controller change, only its own pods are reported.
	told := &told{}
	r.Serve(told, r.refused)
	if r.ownerChanged("web"); told.changed != 2 {
		t.Errorf("%d pods reported, want 2", told.changed)
	}
}
