package pod

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

func TestHistory(t *testing.T) {
	t.Run("finds an adoption in any of our entries", findsAnAdoptionInAnyOfOurEntries)
	t.Run("identifies who set an amount", identifiesWhoSetAnAmount)
}

func findsAnAdoptionInAnyOfOurEntries(t *testing.T) {
	adopted := podtest.Managed(contract.FieldManager, "", 5, contract.AdoptedPrefix+"cpu.app")
	more := podtest.Managed(contract.FieldManager, "status", 6, contract.AppliedAt)
	more.Subresource = ""
	for _, tc := range []struct {
		name    string
		entries []metav1.ManagedFieldsEntry
		want    bool
	}{
		{"in the last entry", []metav1.ManagedFieldsEntry{podtest.AsMade, more, adopted}, true},
		{"in the first entry", []metav1.ManagedFieldsEntry{podtest.AsMade, adopted, more}, true},
		{"in no entry", []metav1.ManagedFieldsEntry{podtest.AsMade, more}, false},
		{"not for another amount", []metav1.ManagedFieldsEntry{podtest.AsMade, podtest.Managed(contract.FieldManager, "", 5, contract.AdoptedPrefix+"memory.app")}, false},
		{"not in another manager's entry", []metav1.ManagedFieldsEntry{podtest.AsMade, podtest.Managed("they", "", 5, contract.AdoptedPrefix+"cpu.app")}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := historyOf(podtest.Pod(guaranteed, podtest.ManagedBy(tc.entries...)))
			if got := h.adopted(0, contract.CPURequest); got != tc.want || h.answers {
				t.Errorf("adopted: %t", got)
			}
		})
	}
}

func identifiesWhoSetAnAmount(t *testing.T) {
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
		{name: "unknown without a record", request: unknown, limit: unknown},
		{name: "the author, if only the creator set it", entries: entries(made), request: author, limit: author},
		{name: "the author, if nobody owns the field after a restore", entries: entries(podtest.BareMade), request: author, limit: author},
		{name: "the author, regardless of a write to the status", entries: entries(podtest.BareMade, podtest.Managed("kubelet", "status", 1, "resize")), request: author, limit: author},
		{name: "admission, if nobody owns the field next to a resize", entries: entries(podtest.BareMade, ours(5, request)), request: us, limit: admission},
		{name: "unknown, if a pod without a record was applied to", entries: entries(func() metav1.ManagedFieldsEntry { m := made; m.Manager = beforeFirstApply; return m }(), applied), request: another, limit: unknown, by: "they"},
		{name: "us, although another manager applies the same value", entries: entries(made, ours(5, request, limit), func() metav1.ManagedFieldsEntry { m := made; m.Manager, m.Operation = "gitops", "Apply"; return m }()), request: us, limit: us},
		{name: "us, only for the amount that we resized", entries: entries(made, ours(5, request)), request: us, limit: author},
		{name: "another, only for the amount that it resized", entries: entries(made, ours(5, request), podtest.ResizeBy("they", 6, limit)), request: us, limit: another, by: "they"},
		{name: "another, regardless of the times", entries: entries(made, ours(9, request), podtest.ResizeBy("they", 6, limit)), request: us, limit: another, by: "they"},
		{name: "us, if another manager agrees with us", entries: entries(made, ours(5, request), applied), request: us, limit: author},
		{name: "the author, if another manager agrees with the author", entries: entries(made, applied), request: author, limit: author},
		{name: "us, although the creator also has the field", entries: entries(made, ours(5, request)), request: us, limit: author},
		{name: "another, although the creator also has the field", entries: entries(made, podtest.ResizeBy("they", 6, request)), request: another, limit: author, by: "they"},
		{name: "another, if it applied what the creator does not own", entries: entries(podtest.BareMade, applied), request: another, limit: admission, by: "they"},
		{name: "a predecessor that uses our annotations", entries: entries(made, podtest.ResizeBy("published", 5, request, limit), podtest.Managed("published", "", 5, contract.AppliedAt, originals)), request: predecessor, limit: predecessor},
		{name: "a predecessor, although another manager agrees with it", entries: entries(made, applied, podtest.ResizeBy("published", 7, request), podtest.Managed("published", "", 7, contract.AppliedAt, originals)), request: predecessor, limit: author},
		{name: "the manager that resized it, not one that agreed before", entries: entries(podtest.BareMade, applied, podtest.ResizeBy("operator", 7, request)), request: another, limit: admission, by: "operator"},
		{name: "the manager that resized it, not one that agreed later", entries: entries(podtest.BareMade, podtest.ResizeBy("operator", 5, request), applied), request: another, limit: admission, by: "operator"},
		{name: "the first of several managers that agree", entries: entries(podtest.BareMade, applied, func() metav1.ManagedFieldsEntry { m := applied; m.Manager = "others"; return m }()), request: another, limit: admission, by: "they"},
		{name: "us, regardless of earlier agreement and later entries", entries: entries(podtest.BareMade, applied, ours(7, request), podtest.ResizeBy("operator", 8, request)), request: us, limit: admission},
		{name: "a predecessor, after we took over and vouch for it", entries: entries(made, podtest.ResizeBy("published", 5, limit), podtest.Managed("published", "", 5, originals), ours(8, request), podtest.Managed(contract.FieldManager, "", 9, contract.AppliedAt, contract.OriginalsBy)), request: us, limit: predecessor},
		{name: "another, if only another manager vouches for it", entries: entries(made, podtest.ResizeBy("published", 5, limit), podtest.Managed("published", "", 5), podtest.Managed("kubectl-edit", "", 9, contract.OriginalsBy)), request: author, limit: another, by: "published"},
		{name: "another, if it resized after a predecessor", entries: entries(made, podtest.Managed("published", "", 5, contract.AppliedAt, originals), podtest.ResizeBy("published", 5, request), podtest.ResizeBy("they", 6, limit)), request: predecessor, limit: another, by: "they"},
		{name: "another, although a third manager wrote our annotations", entries: entries(made, podtest.ResizeBy("they", 5, request, limit), podtest.Managed("kubectl-edit", "", 9, contract.AppliedAt)), request: another, limit: another, by: "they"},
		{name: "unknown for merged entries", entries: entries(podtest.Managed(ancientChanges, contract.ResizeSubresource, 3, "restartPolicy")), request: unknown, limit: unknown},
		{name: "unknown next to a merged entry, which would contain the creation", entries: entries(made, podtest.Managed(ancientChanges, "", 3)), request: unknown, limit: unknown},
		{name: "us, after entries were merged", entries: entries(podtest.Managed(ancientChanges, "", 3, "restartPolicy"), ours(5, request)), request: us, limit: unknown},
		{name: "a stranger wrote the original if it never resized the pod", entries: entries(made, ours(5, request), podtest.Managed("kubectl-edit", "", 9, originals)), request: us, limit: author, stranger: "kubectl-edit"},
		{name: "no stranger: a controller that we vouch for", entries: entries(made, podtest.Managed("published", "", 4, originals), ours(5, request), podtest.Managed(contract.FieldManager, "", 9, contract.AppliedAt, contract.OriginalsBy)), request: us, limit: author},
		{name: "a stranger, at any time, if nobody vouches for it", entries: entries(made, podtest.Managed("published", "", 4, originals), ours(5, request)), request: us, limit: author, stranger: "published"},
		{name: "no stranger: a manager that also resized the pod", entries: entries(made, ours(5, request), podtest.ResizeBy("operator", 6, limit), podtest.Managed("operator", "", 9, originals)), request: us, limit: predecessor},
		{name: "no stranger: the creator", entries: entries(podtest.Managed("kube-controller-manager", "", 0, "restartPolicy", originals), ours(5, request)), request: us, limit: admission},
		{name: "no stranger: us", entries: entries(made, podtest.Managed(contract.FieldManager, "", 5, originals)), request: author, limit: author},
		{name: "a stranger: merged entries", entries: entries(podtest.Managed(ancientChanges, "", 9, "restartPolicy", originals), ours(5, request)), request: us, limit: unknown, stranger: ancientChanges},
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
				t.Errorf("the original is by %q, which could know it: %v", writer, could)
			}
			if other, _ := h.setterOf(1, request); other == us || other == another {
				t.Errorf("another container's request is set by %v", other)
			}
			if writer, could := h.writerOf(0, contract.MemoryLimit); writer != "" || !could {
				t.Errorf("an original that nobody recorded is by %q", writer)
			}
		})
	}
}
