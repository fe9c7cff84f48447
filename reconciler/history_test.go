package reconciler

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// at is a time so many seconds after start.
func at(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

// managed is an entry of managedFields; that of a resize has all amounts of app.
func managed(manager, subresource string, seconds int, fields ...string) metav1.ManagedFieldsEntry {
	annotated, spec := `".":{}`, `"f:containers":{"k:{\"name\":\"app\"}":{}}`
	if subresource == resizeSubresource {
		spec = `"f:containers":{` + amountFields("app", contract.Originals[:]...) + `}`
	}
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

// amountFields are fields of a container's amounts.
func amountFields(container string, which ...contract.Original) string {
	var lists [2]string
	for _, w := range which {
		name := `,"f:cpu":{}`
		if w >= contract.MemoryRequest {
			name = `,"f:memory":{}`
		}
		lists[w%2] += name
	}
	return `"k:{\"name\":\"` + container + `\"}":{".":{},"f:resources":{"f:limits":{".":{}` + lists[1] + `},"f:requests":{".":{}` + lists[0] + `}}}`
}

// resizeBy is the entry of a resize of some amounts of app.
func resizeBy(manager string, seconds int, which ...contract.Original) metav1.ManagedFieldsEntry {
	m := managed(manager, resizeSubresource, seconds)
	m.FieldsV1 = metav1.NewFieldsV1(`{"f:spec":{"f:containers":{` + amountFields("app", which...) + `}}}`)
	return m
}

// resizeOf is the entry of our resize of these containers.
func resizeOf(seconds int, containers ...string) metav1.ManagedFieldsEntry {
	var all []string
	for _, name := range containers {
		all = append(all, amountFields(name, contract.Originals[:]...))
	}
	m := managed(contract.FieldManager, resizeSubresource, seconds)
	m.FieldsV1 = metav1.NewFieldsV1(`{"f:spec":{"f:containers":{` + strings.Join(all, ",") + `}}}`)
	return m
}

func managedBy(entries ...metav1.ManagedFieldsEntry) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.ManagedFields = append(p.ManagedFields, entries...) }
}

var (
	// bareMade is the entry of who created a pod, of which others have the amounts.
	bareMade = managed("kube-controller-manager", "", 0, "containers", "restartPolicy")
	// asMade is that with the amounts of app.
	asMade = func() metav1.ManagedFieldsEntry {
		m := bareMade
		m.FieldsV1 = metav1.NewFieldsV1(`{"f:spec":{"f:containers":{` + amountFields("app", contract.Originals[:]...) + `},"f:restartPolicy":{}}}`)
		return m
	}()
	// asCreated is a pod that nobody has resized.
	asCreated = managedBy(asMade, managed("kubelet", "status", 1, "conditions"))
	// asResized is a pod that we resized.
	asResized = managedBy(asMade, managed("kubelet", "status", 1, "conditions"),
		managed(contract.FieldManager, "resize", 10, "containers"),
		managed(contract.FieldManager, "", 11, contract.AppliedAt, contract.OriginalPrefix+"cpu.app"))
)

// asPublished is a pod that another controller with our annotations resized.
var asPublished = managedBy(asMade, managed("published", "resize", 10), managed("published", "", 11, contract.AppliedAt, contract.OriginalPrefix+"cpu.app"))

func TestWhoSetAnAmount(t *testing.T) {
	const request, limit = contract.CPURequest, contract.CPULimit
	originals := contract.OriginalPrefix + "cpu.app"
	author, us, another, unknown, predecessor, admission := author, us, another, unknown, predecessor, admission
	ours := func(seconds int, which ...contract.Original) metav1.ManagedFieldsEntry {
		return resizeBy(contract.FieldManager, seconds, which...)
	}
	entries := func(all ...metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry { return all }
	made := asMade
	applied := resizeBy("they", 6, request)
	applied.Operation = metav1.ManagedFieldsOperationApply
	for _, tc := range []struct {
		name           string
		entries        []metav1.ManagedFieldsEntry
		request, limit setter
		by, stranger   string
	}{
		{name: "no record at all proves nothing", request: unknown, limit: unknown},
		{name: "who created it, if nobody else did", entries: entries(made), request: author, limit: author},
		{name: "the author, whose field nobody has since a restore", entries: entries(bareMade), request: author, limit: author},
		{name: "nobody by a status", entries: entries(bareMade, managed("kubelet", "status", 1, "resize")), request: author, limit: author},
		{name: "an admission plugin, what nobody has beside a resize", entries: entries(bareMade, ours(5, request)), request: us, limit: admission},
		{name: "nobody knows who, once somebody applied to a pod without a record", entries: entries(func() metav1.ManagedFieldsEntry { m := made; m.Manager = beforeFirstApply; return m }(), applied), request: another, limit: unknown, by: "they"},
		{name: "us, though somebody applies the pod as it is", entries: entries(made, ours(5, request, limit), func() metav1.ManagedFieldsEntry { m := made; m.Manager, m.Operation = "gitops", "Apply"; return m }()), request: us, limit: us},
		{name: "us, as far as we resized it", entries: entries(made, ours(5, request)), request: us, limit: author},
		{name: "another, as far as he did", entries: entries(made, ours(5, request), resizeBy("they", 6, limit)), request: us, limit: another, by: "they"},
		{name: "another, whatever the times say", entries: entries(made, ours(9, request), resizeBy("they", 6, limit)), request: us, limit: another, by: "they"},
		{name: "us, where another agrees with us", entries: entries(made, ours(5, request), applied), request: us, limit: author},
		{name: "the author, where another agrees with him", entries: entries(made, applied), request: author, limit: author},
		{name: "us, though somebody made up that its creator set it", entries: entries(made, ours(5, request)), request: us, limit: author},
		{name: "another, though somebody made that up", entries: entries(made, resizeBy("they", 6, request)), request: another, limit: author, by: "they"},
		{name: "another, who applied what its creator has not", entries: entries(bareMade, applied), request: another, limit: admission, by: "they"},
		{name: "another controller with our annotations", entries: entries(made, resizeBy("published", 5, request, limit), managed("published", "", 5, contract.AppliedAt, originals)), request: predecessor, limit: predecessor},
		{name: "so it is once we have applied in its place, and vouch for it", entries: entries(made, resizeBy("published", 5, limit), managed("published", "", 5, originals), ours(8, request), managed(contract.FieldManager, "", 9, contract.AppliedAt, contract.OriginalsBy)), request: us, limit: predecessor},
		{name: "not if another vouches for it", entries: entries(made, resizeBy("published", 5, limit), managed("published", "", 5), managed("kubectl-edit", "", 9, contract.OriginalsBy)), request: author, limit: another, by: "published"},
		{name: "another one after that is another", entries: entries(made, managed("published", "", 5, contract.AppliedAt, originals), resizeBy("published", 5, request), resizeBy("they", 6, limit)), request: predecessor, limit: another, by: "they"},
		{name: "who says that he applied what another resized is not us", entries: entries(made, resizeBy("they", 5, request, limit), managed("kubectl-edit", "", 9, contract.AppliedAt)), request: another, limit: another, by: "they"},
		{name: "what was merged into one entry is anybody's", entries: entries(managed(ancientChanges, resizeSubresource, 3, "restartPolicy")), request: unknown, limit: unknown},
		{name: "and what is beside it is no creation, which would be in it", entries: entries(made, managed(ancientChanges, "", 3)), request: unknown, limit: unknown},
		{name: "but we set what we set since", entries: entries(managed(ancientChanges, "", 3, "restartPolicy"), ours(5, request)), request: us, limit: unknown},
		{name: "originals by who never sized it are a stranger's", entries: entries(made, ours(5, request), managed("kubectl-edit", "", 9, originals)), request: us, limit: author, stranger: "kubectl-edit"},
		{name: "not by another controller, in whose place we resized it", entries: entries(made, managed("published", "", 4, originals), ours(5, request), managed(contract.FieldManager, "", 9, contract.AppliedAt, contract.OriginalsBy)), request: us, limit: author},
		{name: "but by one that nobody vouches for, whenever it wrote them", entries: entries(made, managed("published", "", 4, originals), ours(5, request)), request: us, limit: author, stranger: "published"},
		{name: "not by who resized it, too", entries: entries(made, ours(5, request), resizeBy("operator", 6, limit), managed("operator", "", 9, originals)), request: us, limit: predecessor},
		{name: "not by who created it", entries: entries(managed("kube-controller-manager", "", 0, "restartPolicy", originals), ours(5, request)), request: us, limit: admission},
		{name: "not by us", entries: entries(made, managed(contract.FieldManager, "", 5, originals)), request: author, limit: author},
		{name: "but by nobody knows whom", entries: entries(managed(ancientChanges, "", 9, "restartPolicy", originals), ours(5, request)), request: us, limit: unknown, stranger: ancientChanges},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := pod(guaranteed, managedBy(tc.entries...), annotated("originals-by", "other,published"))
			p.Spec.InitContainers = []corev1.Container{{Name: "other"}}
			for trimmed, p := range map[string]*corev1.Pod{"": p, "trimmed: ": trimPod(p), "trimmed twice: ": trimPod(trimPod(p))} {
				h := historyOf(p)
				r, byRequest := h.setterOf(0, request)
				l, byLimit := h.setterOf(0, limit)
				by := ""
				if r == another {
					by = byRequest
				}
				if l == another {
					by = byLimit
				}
				if r != tc.request || l != tc.limit || by != tc.by {
					t.Errorf("%sthe request is set by %v %q, the limit by %v %q", trimmed, r, byRequest, l, byLimit)
				}
				if writer, could := h.writerOf(0, request); could != (tc.stranger == "") || !could && writer != tc.stranger {
					t.Errorf("%sthe original is by %q, who could know it: %v", trimmed, writer, could)
				}
				if other, _ := h.setterOf(1, request); other == us || other == another {
					t.Errorf("%sanother container's request is set by %v", trimmed, other)
				}
				if writer, could := h.writerOf(0, contract.MemoryLimit); writer != "" || !could {
					t.Errorf("%swhat nobody recorded is by %q", trimmed, writer)
				}
			}
		})
	}
}
