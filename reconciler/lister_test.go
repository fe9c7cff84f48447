package reconciler

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

func TestPodsComeInOrderAfterTheNamedOne(t *testing.T) {
	r := shop(t)
	for _, tc := range []struct {
		namespace, after, want string
	}{
		{"", "/", "bank/db bank/pending shop/db shop/web-1-x shop/web-1-y"},
		{"", "bank/db", "bank/pending shop/db shop/web-1-x shop/web-1-y"},
		{"", "bank/e", "bank/pending shop/db shop/web-1-x shop/web-1-y"},
		{"", "bank/pending", "shop/db shop/web-1-x shop/web-1-y"},
		{"", "inn/zoe", "shop/db shop/web-1-x shop/web-1-y"},
		{"", "shop/web-1-y", ""},
		{"", "zoo/", ""},
		{"bank", "/", "bank/db bank/pending"},
		{"bank", "bank/db", "bank/pending"},
		{"bank", "shop/db", ""},
		{"shop", "bank/pending", "shop/db shop/web-1-x shop/web-1-y"},
		{"none", "/", ""},
	} {
		namespace, name, _ := strings.Cut(tc.after, "/")
		var got []string
		for k := range r.pods.Pods(tc.namespace).After(types.NamespacedName{Namespace: namespace, Name: name}) {
			got = append(got, k.NamespacedName().String())
		}
		if names := strings.Join(got, " "); names != tc.want {
			t.Errorf("namespace %q after %s: %q, want %q", tc.namespace, tc.after, names, tc.want)
		}
	}
}

func TestPodsAreFoundByTheirController(t *testing.T) {
	owner := func(uid types.UID, controller bool) metav1.OwnerReference {
		return metav1.OwnerReference{Kind: "ReplicaSet", Name: "web", UID: uid, Controller: &controller}
	}
	owned := func(by ...metav1.OwnerReference) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.OwnerReferences = by }
	}
	r := filled(t, []*corev1.Pod{
		podtest.Pod(podtest.Guaranteed, named("shop", "a", "n4-0"), owned(owner("other", false), owner("web", true))),
		podtest.Pod(podtest.Guaranteed, named("shop", "b", "n4-0"), owned(owner("web", true))),
		podtest.Pod(podtest.Guaranteed, named("shop", "c", "n4-0"), owned(owner("web", false))),
		podtest.Pod(podtest.Guaranteed, named("shop", "d", "n4-0"), owned(owner("other", true))),
		podtest.Pod(podtest.Guaranteed, named("shop", "e", "n4-0"), owned()),
	}, nil)
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
	// Only its own pods are looked at again when more is known above a controller.
	r.ownerChanged("web")
	if r.queue.Len() != 2 {
		t.Errorf("%d pods are queued, want 2", r.queue.Len())
	}
}

func TestQuestionsAboutManyPodsTakeFewAllocations(t *testing.T) {
	const pods = 200
	all := make([]*corev1.Pod, pods)
	for i := range all {
		all[i] = podtest.Pod(podtest.Guaranteed, named("shop", fmt.Sprintf("web-%03d", i), "n4-0"), podtest.SizedForN4)
	}
	r := filled(t, all, nil)
	for name, ask := range map[string]func() error{
		"all are counted":        func() error { _, err := r.Count(""); return err },
		"a namespace is counted": func() error { _, err := r.Count("shop"); return err },
		"all are selected":       func() error { _, _, err := r.PreviewAll(t.Context(), Selection{}, PreviewOptions{}); return err },
		"a node's are selected": func() error {
			_, _, err := r.PreviewAll(t.Context(), Selection{Node: "n4-0"}, PreviewOptions{})
			return err
		},
		"one of many is selected": func() error {
			_, _, err := r.PreviewAll(t.Context(), Selection{Pod: "web-007"}, PreviewOptions{})
			return err
		},
		"a page has one of many": func() error {
			resizes, err := r.Resizes(t.Context(), ResizeQuery{})
			if err != nil {
				return err
			}
			for _, err = range resizes {
				break
			}
			return err
		},
		"they are queued": func() error { r.enqueueNamespace("shop"); return nil },
	} {
		if allocations := testing.AllocsPerRun(1, func() { do(t, ask()) }); allocations >= pods {
			t.Errorf("%s: %.0f allocations among %d pods", name, allocations, pods)
		}
	}
}

// What is held of pods until their plans are read is their names and what the cache
// has of them anyway.
func TestTheSelectedArePlannedAsTheyWereAtTheCall(t *testing.T) {
	r := shop(t)
	total, plans, err := r.PreviewAll(t.Context(), Selection{Workload: safety.Workload{Kind: "Deployment", Name: "web"}}, PreviewOptions{})
	do(t, err)
	gone, changed := r.pods.Pods("shop").Get("web-1-x"), podtest.Pod(podtest.Amounts{"3", "", "1Gi", ""}, named("shop", "web-1-y", "b"))
	do(t, r.podIndex.Delete(gone))
	do(t, r.podIndex.Update(pod.From(changed)))
	var got []string
	for p := range plans {
		got = append(got, fmt.Sprint(p.Pod, " ", p.Containers[0].Current.CPU.Request))
	}
	if names := strings.Join(got, ", "); names != "shop/web-1-x 1000, shop/web-1-y 1000" || total != 2 {
		t.Errorf("%d in total: %s", total, names)
	}
}
