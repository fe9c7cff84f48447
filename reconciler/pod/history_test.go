package pod

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

func TestHistory(t *testing.T) {
	t.Run("we adopted what any of our entries says", weAdoptedWhatAnyOfOurEntriesSays)
	t.Run("who set an amount", whoSetAnAmount)
}

func weAdoptedWhatAnyOfOurEntriesSays(t *testing.T) {
	adopted := podtest.Managed(contract.FieldManager, "", 5, contract.AdoptedPrefix+"cpu.app")
	more := podtest.Managed(contract.FieldManager, "status", 6, contract.AppliedAt)
	more.Subresource = ""
	for _, tc := range []struct {
		name    string
		entries []metav1.ManagedFieldsEntry
		want    bool
	}{
		{"the last", []metav1.ManagedFieldsEntry{podtest.AsMade, more, adopted}, true},
		{"the first", []metav1.ManagedFieldsEntry{podtest.AsMade, adopted, more}, true},
		{"none", []metav1.ManagedFieldsEntry{podtest.AsMade, more}, false},
		{"of another amount", []metav1.ManagedFieldsEntry{podtest.AsMade, podtest.Managed(contract.FieldManager, "", 5, contract.AdoptedPrefix+"memory.app")}, false},
		{"of another's entry", []metav1.ManagedFieldsEntry{podtest.AsMade, podtest.Managed("they", "", 5, contract.AdoptedPrefix+"cpu.app")}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := historyOf(podtest.Pod(guaranteed, podtest.ManagedBy(tc.entries...)))
			if got := h.adopted(0, contract.CPURequest); got != tc.want || h.answers {
				t.Errorf("adopted: %t", got)
			}
		})
	}
}

func whoSetAnAmount(t *testing.T) {
	const request, limit = contract.CPURequest, contract.CPULimit
	originals := contract.OriginalPrefix + "cpu.app"
	author, us, another, unknown, predecessor, admission := author, us, another, unknown, predecessor, admission
	ours := func(seconds int, which ...contract.Original) metav1.ManagedFieldsEntry {
		return podtest.ResizeBy(contract.FieldManager, seconds, which...)
	}
	entries := func(all ...metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry { return all }
	made := podtest.AsMade
	applied := podtest.ResizeBy("they", 6, request)
	applied.Operation = metav1.ManagedFieldsOperationApply
	for _, tc := range []struct {
		name           string
		entries        []metav1.ManagedFieldsEntry
		request, limit setter
		by, stranger   string
	}{
		{name: "no record at all proves nothing", request: unknown, limit: unknown},
		{name: "who created it, if nobody else did", entries: entries(made), request: author, limit: author},
		{name: "the author, whose field nobody has since a restore", entries: entries(podtest.BareMade), request: author, limit: author},
		{name: "nobody by a status", entries: entries(podtest.BareMade, podtest.Managed("kubelet", "status", 1, "resize")), request: author, limit: author},
		{name: "an admission plugin, what nobody has beside a resize", entries: entries(podtest.BareMade, ours(5, request)), request: us, limit: admission},
		{name: "nobody knows who, once somebody applied to a pod without a record", entries: entries(func() metav1.ManagedFieldsEntry { m := made; m.Manager = beforeFirstApply; return m }(), applied), request: another, limit: unknown, by: "they"},
		{name: "us, though somebody applies the pod as it is", entries: entries(made, ours(5, request, limit), func() metav1.ManagedFieldsEntry { m := made; m.Manager, m.Operation = "gitops", "Apply"; return m }()), request: us, limit: us},
		{name: "us, as far as we resized it", entries: entries(made, ours(5, request)), request: us, limit: author},
		{name: "another, as far as he did", entries: entries(made, ours(5, request), podtest.ResizeBy("they", 6, limit)), request: us, limit: another, by: "they"},
		{name: "another, whatever the times say", entries: entries(made, ours(9, request), podtest.ResizeBy("they", 6, limit)), request: us, limit: another, by: "they"},
		{name: "us, where another agrees with us", entries: entries(made, ours(5, request), applied), request: us, limit: author},
		{name: "the author, where another agrees with him", entries: entries(made, applied), request: author, limit: author},
		{name: "us, though somebody made up that its creator set it", entries: entries(made, ours(5, request)), request: us, limit: author},
		{name: "another, though somebody made that up", entries: entries(made, podtest.ResizeBy("they", 6, request)), request: another, limit: author, by: "they"},
		{name: "another, who applied what its creator has not", entries: entries(podtest.BareMade, applied), request: another, limit: admission, by: "they"},
		{name: "another controller with our annotations", entries: entries(made, podtest.ResizeBy("published", 5, request, limit), podtest.Managed("published", "", 5, contract.AppliedAt, originals)), request: predecessor, limit: predecessor},
		{name: "though another agrees with it", entries: entries(made, applied, podtest.ResizeBy("published", 7, request), podtest.Managed("published", "", 7, contract.AppliedAt, originals)), request: predecessor, limit: author},
		{name: "who resized it, and not who agreed before", entries: entries(podtest.BareMade, applied, podtest.ResizeBy("operator", 7, request)), request: another, limit: admission, by: "operator"},
		{name: "nor who agrees since", entries: entries(podtest.BareMade, podtest.ResizeBy("operator", 5, request), applied), request: another, limit: admission, by: "operator"},
		{name: "the first of several who agree", entries: entries(podtest.BareMade, applied, func() metav1.ManagedFieldsEntry { m := applied; m.Manager = "others"; return m }()), request: another, limit: admission, by: "they"},
		{name: "us, whoever agreed before and whatever is in the record after", entries: entries(podtest.BareMade, applied, ours(7, request), podtest.ResizeBy("operator", 8, request)), request: us, limit: admission},
		{name: "so it is once we have applied in its place, and vouch for it", entries: entries(made, podtest.ResizeBy("published", 5, limit), podtest.Managed("published", "", 5, originals), ours(8, request), podtest.Managed(contract.FieldManager, "", 9, contract.AppliedAt, contract.OriginalsBy)), request: us, limit: predecessor},
		{name: "not if another vouches for it", entries: entries(made, podtest.ResizeBy("published", 5, limit), podtest.Managed("published", "", 5), podtest.Managed("kubectl-edit", "", 9, contract.OriginalsBy)), request: author, limit: another, by: "published"},
		{name: "another one after that is another", entries: entries(made, podtest.Managed("published", "", 5, contract.AppliedAt, originals), podtest.ResizeBy("published", 5, request), podtest.ResizeBy("they", 6, limit)), request: predecessor, limit: another, by: "they"},
		{name: "who says that he applied what another resized is not us", entries: entries(made, podtest.ResizeBy("they", 5, request, limit), podtest.Managed("kubectl-edit", "", 9, contract.AppliedAt)), request: another, limit: another, by: "they"},
		{name: "what was merged into one entry is anybody's", entries: entries(podtest.Managed(ancientChanges, contract.ResizeSubresource, 3, "restartPolicy")), request: unknown, limit: unknown},
		{name: "and what is beside it is no creation, which would be in it", entries: entries(made, podtest.Managed(ancientChanges, "", 3)), request: unknown, limit: unknown},
		{name: "but we set what we set since", entries: entries(podtest.Managed(ancientChanges, "", 3, "restartPolicy"), ours(5, request)), request: us, limit: unknown},
		{name: "originals by who never sized it are a stranger's", entries: entries(made, ours(5, request), podtest.Managed("kubectl-edit", "", 9, originals)), request: us, limit: author, stranger: "kubectl-edit"},
		{name: "not by another controller, in whose place we resized it", entries: entries(made, podtest.Managed("published", "", 4, originals), ours(5, request), podtest.Managed(contract.FieldManager, "", 9, contract.AppliedAt, contract.OriginalsBy)), request: us, limit: author},
		{name: "but by one that nobody vouches for, whenever it wrote them", entries: entries(made, podtest.Managed("published", "", 4, originals), ours(5, request)), request: us, limit: author, stranger: "published"},
		{name: "not by who resized it, too", entries: entries(made, ours(5, request), podtest.ResizeBy("operator", 6, limit), podtest.Managed("operator", "", 9, originals)), request: us, limit: predecessor},
		{name: "not by who created it", entries: entries(podtest.Managed("kube-controller-manager", "", 0, "restartPolicy", originals), ours(5, request)), request: us, limit: admission},
		{name: "not by us", entries: entries(made, podtest.Managed(contract.FieldManager, "", 5, originals)), request: author, limit: author},
		{name: "but by nobody knows whom", entries: entries(podtest.Managed(ancientChanges, "", 9, "restartPolicy", originals), ours(5, request)), request: us, limit: unknown, stranger: ancientChanges},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := podtest.Pod(podtest.Amounts{"1", "1", "1Gi", "1Gi"}, podtest.ManagedBy(tc.entries...), podtest.Annotated("originals-by", "other,published"))
			p.Spec.InitContainers = []corev1.Container{{Name: "other"}}
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
				t.Errorf("the request is set by %v %q, the limit by %v %q", r, byRequest, l, byLimit)
			}
			if writer, could := h.writerOf(0, request); could != (tc.stranger == "") || !could && writer != tc.stranger {
				t.Errorf("the original is by %q, who could know it: %v", writer, could)
			}
			if other, _ := h.setterOf(1, request); other == us || other == another {
				t.Errorf("another container's request is set by %v", other)
			}
			if writer, could := h.writerOf(0, contract.MemoryLimit); writer != "" || !could {
				t.Errorf("what nobody recorded is by %q", writer)
			}
		})
	}
}
