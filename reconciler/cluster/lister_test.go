package cluster

import (
	"errors"
	"fmt"
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
	t.Run("yields the namespaces that a caller sees", yieldsTheNamespacesThatACallerSees)
	t.Run("finds pods by their controller", findsPodsByTheirController)
	t.Run("pods in other namespaces are no siblings", podsInOtherNamespacesAreNoSiblings)
	t.Run("the pods of all versions of a Deployment are siblings", thePodsOfAllVersionsOfADeploymentAreSiblings)
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

func yieldsTheNamespacesThatACallerSees(t *testing.T) {
	var pods []*corev1.Pod
	for i := range 200 {
		pods = append(pods, podtest.Pod(podtest.Guaranteed, named(fmt.Sprintf("team-%03d", i), "a")))
	}
	asked := 0
	odd := func(namespaces ...string) (seen []string, err error) {
		for _, namespace := range namespaces {
			asked++
			if namespace[len(namespace)-1]%2 == 1 {
				seen = append(seen, namespace)
			}
		}
		return seen, nil
	}
	var got []string
	for namespace, err := range known(t, pods...).Pods("").Visible("team-003", odd) {
		if got = append(got, namespace); err != nil || len(got) == 3 {
			break
		}
	}
	if strings.Join(got, " ") != "team-003 team-005 team-007" || asked != namespacesAtATime {
		t.Errorf("%q after %d questions", got, asked)
	}
	n, denied := 0, errors.New("denied")
	for _, err := range known(t, pods...).Pods("").Visible("", nil) {
		if n++; err != nil {
			t.Error(err)
		}
	}
	for namespace, err := range known(t, pods...).Pods("").Visible("", func(...string) ([]string, error) { return nil, denied }) {
		if n++; namespace != "" || !errors.Is(err, denied) {
			t.Errorf("%q, %v", namespace, err)
		}
	}
	if n != len(pods)+1 {
		t.Errorf("%d namespaces and errors", n)
	}
}

func findsPodsByTheirController(t *testing.T) {
	owner := func(uid types.UID, controller bool) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: uid, Controller: &controller}
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

func podsInOtherNamespacesAreNoSiblings(t *testing.T) {
	mine, sibling, forged := podtest.Pod(podtest.Guaranteed, named("shop", "a")), podtest.Pod(podtest.Guaranteed, named("shop", "b")), podtest.Pod(podtest.Guaranteed, named("evil", "c"))
	c := known(t, mine, sibling, forged)
	if found := c.pods.ControlledBy(c.Pods("shop").Get("a").Controller().UID); len(found) != 3 {
		t.Fatalf("%d pods name the controller", len(found))
	}
	for _, name := range []string{"a", "b"} {
		found := c.Snapshot(c.Pods("shop").Get(name), Rules{Table: podtest.Table(t)}).Siblings()
		slices.SortFunc(found, ByNamespaceAndName)
		if len(found) != 2 || found[0].Name != "a" || found[1].Name != "b" {
			t.Errorf("%s has %d siblings", name, len(found))
		}
	}
}

func thePodsOfAllVersionsOfADeploymentAreSiblings(t *testing.T) {
	by := func(kind, name string, uid types.UID, hash string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: name, UID: uid, Controller: new(true)}}
			p.Labels = map[string]string{"pod-template-hash": hash}
		}
	}
	c := known(t,
		podtest.Pod(podtest.Guaranteed, named("shop", "a"), by("ReplicaSet", "web-1", "rs-1", "1")),
		podtest.Pod(podtest.Guaranteed, named("shop", "b"), by("ReplicaSet", "web-1", "rs-1", "1")),
		podtest.Pod(podtest.Guaranteed, named("shop", "c"), by("ReplicaSet", "web-2", "rs-2", "2")),
		podtest.Pod(podtest.Guaranteed, named("shop", "d"), by("ReplicaSet", "api-1", "rs-3", "1")),
		podtest.Pod(podtest.Guaranteed, named("shop", "e"), by("ReplicaSet", "web-2", "rs-4", "")),
		podtest.Pod(podtest.Guaranteed, named("shop", "f"), by("ReplicaSet", "web-2", "rs-4", "")),
		podtest.Pod(podtest.Guaranteed, named("shop", "g"), by("StatefulSet", "web-2", "set", "2")),
		podtest.Pod(podtest.Guaranteed, named("bank", "h"), by("ReplicaSet", "web-1", "rs-1", "1")),
	)
	shared := c.Shared("shop")
	for name, want := range map[string]string{"a": "a b c", "b": "a b c", "c": "a b c", "d": "d", "e": "e f", "g": "g"} {
		var got []string
		for _, of := range c.SnapshotIn(shared, c.Pods("shop").Get(name), Rules{Table: podtest.Table(t)}).Siblings() {
			got = append(got, of.Name)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s has the siblings %v, want %s", name, got, want)
		}
	}
}
