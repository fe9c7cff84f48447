package reconciler

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// at is a time so many seconds after start.
func at(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

// managed is an entry of managedFields.
func managed(manager, subresource string, seconds int, fields ...string) metav1.ManagedFieldsEntry {
	annotated, spec := `".":{}`, `"f:containers":{"k:{\"name\":\"app\"}":{}}`
	for _, f := range fields {
		if strings.HasPrefix(f, contract.Prefix) {
			annotated += `,"f:` + f + `":{}`
		} else {
			spec += `,"f:` + f + `":{}`
		}
	}
	when := metav1.NewTime(at(seconds))
	return metav1.ManagedFieldsEntry{Manager: manager, Subresource: subresource, Time: &when,
		FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{` + annotated + `}},"f:spec":{` + spec + `}}`)}
}

// resizeOf is the entry of our resize of these containers.
func resizeOf(seconds int, containers ...string) metav1.ManagedFieldsEntry {
	raw := ""
	for _, name := range containers {
		raw += `"k:{\"name\":\"` + name + `\"}":{}`
	}
	m := managed(contract.FieldManager, resizeSubresource, seconds)
	m.FieldsV1 = metav1.NewFieldsV1(raw)
	return m
}

func managedBy(entries ...metav1.ManagedFieldsEntry) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.ManagedFields = append(p.ManagedFields, entries...) }
}

var (
	creation = managed("kube-controller-manager", "", 0, "containers", "restartPolicy")
	// asCreated is a pod that nobody has resized.
	asCreated = managedBy(creation, managed("kubelet", "status", 1, "conditions"))
	// asResized is a pod that we resized.
	asResized = managedBy(creation, managed("kubelet", "status", 1, "conditions"),
		managed(contract.FieldManager, "resize", 10, "containers"),
		managed(contract.FieldManager, "", 11, contract.AppliedAt, contract.OriginalPrefix+"cpu.app"))
)

// asPublished is a pod that another controller with our annotations resized.
var asPublished = managedBy(creation, managed("published", "resize", 10), managed("published", "", 11, contract.AppliedAt, contract.OriginalPrefix+"cpu.app"))

func TestHistory(t *testing.T) {
	originals := contract.OriginalPrefix + "memory.app"
	for _, tc := range []struct {
		name                         string
		entries                      []metav1.ManagedFieldsEntry
		resized, untouched, external bool
		stranger                     string
	}{
		{name: "no record at all proves nothing"},
		{name: "a record since the creation without a resize", entries: []metav1.ManagedFieldsEntry{creation}, untouched: true},
		{name: "the kubelet's status is no resize", entries: []metav1.ManagedFieldsEntry{creation, managed("kubelet", "status", 1, "resize")}, untouched: true},
		{name: "ours", entries: []metav1.ManagedFieldsEntry{creation, managed(contract.FieldManager, "resize", 5)}, resized: true},
		{name: "somebody else's", entries: []metav1.ManagedFieldsEntry{creation, managed("they", "resize", 5)}, resized: true, external: true},
		{name: "somebody else's after ours", entries: []metav1.ManagedFieldsEntry{creation, managed("they", "resize", 6), managed(contract.FieldManager, "resize", 5)}, resized: true, external: true},
		{name: "somebody else's before ours", entries: []metav1.ManagedFieldsEntry{creation, managed("they", "resize", 5), managed(contract.FieldManager, "resize", 6)}, resized: true},
		{name: "the last of several counts", entries: []metav1.ManagedFieldsEntry{creation, managed("they", "resize", 7), managed("others", "resize", 5), managed(contract.FieldManager, "resize", 6)}, resized: true, external: true},
		{name: "another controller with our annotations", entries: []metav1.ManagedFieldsEntry{creation, managed("published", "resize", 5), managed("published", "", 5, contract.AppliedAt, originals)}, resized: true},
		{name: "somebody else's after that", entries: []metav1.ManagedFieldsEntry{creation, managed("published", "", 5, contract.AppliedAt, originals), managed("published", "resize", 5), managed("they", "resize", 6)}, resized: true, external: true},
		{name: "originals by who never sized it", entries: []metav1.ManagedFieldsEntry{creation, managed(contract.FieldManager, "resize", 5), managed("kubectl-edit", "", 9, originals)}, resized: true, stranger: "kubectl-edit"},
		{name: "originals by another controller, whose resize ours took the place of", entries: []metav1.ManagedFieldsEntry{creation, managed("published", "", 4, originals), managed(contract.FieldManager, "resize", 5)}, resized: true},
		{name: "originals by who created it", entries: []metav1.ManagedFieldsEntry{managed("kube-controller-manager", "", 0, "restartPolicy", originals), managed(contract.FieldManager, "resize", 5)}, resized: true},
		{name: "a record that was cut proves nothing", entries: []metav1.ManagedFieldsEntry{managed(ancientChanges, "", 3, "restartPolicy"), managed("a", "", 4)}},
		{name: "nor does it tell who wrote the originals", entries: []metav1.ManagedFieldsEntry{managed(ancientChanges, "", 9, "restartPolicy", originals), managed(contract.FieldManager, "resize", 5)}, resized: true, stranger: ancientChanges},
		{name: "who says that he applied what another resized", entries: []metav1.ManagedFieldsEntry{creation, managed("they", "resize", 5), managed("kubectl-edit", "", 9, contract.AppliedAt)}, resized: true, external: true},
		{name: "originals by us", entries: []metav1.ManagedFieldsEntry{creation, managed(contract.FieldManager, "", 5, originals)}, untouched: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := pod(guaranteed, managedBy(tc.entries...))
			h := historyOf(p)
			if h.resized() != tc.resized || h.untouched("app") != tc.untouched || h.external() != tc.external || h.stranger != tc.stranger {
				t.Errorf("resized %v, untouched %v, external %v, stranger %q", h.resized(), h.untouched("app"), h.external(), h.stranger)
			}
			if h.untouched("other") != h.created || h.created && h.cut {
				t.Errorf("another container is untouched: %v", h.untouched("other"))
			}
			p.Spec.InitContainers = []corev1.Container{{Name: "other"}}
			trimmed := historyOf(trimPod(p))
			for _, name := range []string{"app", "other", "ap"} {
				if trimmed.untouched(name) != h.untouched(name) {
					t.Errorf("trimmed, %s is untouched: %v", name, trimmed.untouched(name))
				}
			}
			if trimmed.entries, h.entries = nil, nil; !cmp.Equal(trimmed, h, cmp.AllowUnexported(history{})) {
				t.Errorf("trimmed, it is %+v instead of %+v", trimmed, h)
			}
		})
	}
}
