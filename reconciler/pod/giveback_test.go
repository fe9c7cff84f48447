package pod

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// madeWith is the entry of who created a pod with some amounts.
func madeWith(which ...contract.Original) metav1.ManagedFieldsEntry {
	m := podtest.BareMade
	m.FieldsV1 = metav1.NewFieldsV1(`{"f:spec":{"f:containers":{` + podtest.AmountFields("app", which...) + `},"f:restartPolicy":{}}}`)
	return m
}

func TestGiveback(t *testing.T) {
	t.Run("without resizes a pod is as it was created", withoutResizesAPodIsAsItWasCreated)
	t.Run("a record without resizes stays as it is to the byte", aRecordWithoutResizesStaysAsItIsToTheByte)
	t.Run("who created a pod", whoCreatedAPod)
}

func withoutResizesAPodIsAsItWasCreated(t *testing.T) {
	const cpu, cpuLimit, memory, memoryLimit = contract.CPURequest, contract.CPULimit, contract.MemoryRequest, contract.MemoryLimit
	kubelet := podtest.Managed("kubelet", "status", 1, "conditions")
	gitops := podtest.Managed("gitops", "", 2, "x")
	ours := podtest.Managed(contract.FieldManager, "", 11, contract.AppliedAt, contract.OriginalPrefix+"cpu.app")
	byUs := podtest.BareMade
	byUs.Manager = contract.FieldManager
	empty := podtest.ResizeBy("they", 9)
	empty.FieldsV1 = nil
	for _, tc := range []struct {
		name    string
		entries []metav1.ManagedFieldsEntry
		kept    []string
		// authors are the amounts that are as created again.
		authors []contract.Original
	}{
		{"nobody resized it", []metav1.ManagedFieldsEntry{podtest.AsMade, kubelet}, []string{"kube-controller-manager", "kubelet"}, contract.Originals[:]},
		{"we resized it", []metav1.ManagedFieldsEntry{podtest.BareMade, kubelet, podtest.ResizeOf(10, "app"), ours}, []string{"kube-controller-manager", "kubelet"}, contract.Originals[:]},
		{"others did, each another amount", []metav1.ManagedFieldsEntry{kubelet, madeWith(cpu), podtest.ResizeBy("they", 5, cpuLimit, memory), empty, podtest.ResizeBy("others", 6, memoryLimit)}, []string{"kubelet", "kube-controller-manager"}, contract.Originals[:]},
		{"its creator keeps what it has of each list", []metav1.ManagedFieldsEntry{madeWith(cpu, cpuLimit), podtest.ResizeBy("they", 5, memory, memoryLimit)}, []string{"kube-controller-manager"}, contract.Originals[:]},
		{"who wrote something else stays", []metav1.ManagedFieldsEntry{podtest.BareMade, gitops, podtest.ResizeOf(10, "app"), ours}, []string{"kube-controller-manager", "gitops"}, contract.Originals[:]},
		{"we may have created it", []metav1.ManagedFieldsEntry{byUs, podtest.ResizeOf(10, "app"), ours}, []string{contract.FieldManager}, contract.Originals[:]},
		{"nobody knows who created it", []metav1.ManagedFieldsEntry{gitops, podtest.ResizeOf(10, "app"), ours}, []string{"gitops"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			kept := WithoutResizes(tc.entries)
			var managers []string
			for _, m := range kept {
				managers = append(managers, m.Manager)
			}
			if !slices.Equal(managers, tc.kept) {
				t.Errorf("kept are %q, want %q", managers, tc.kept)
			}
			h := historyOf(podtest.Pod(guaranteed, podtest.ManagedBy(kept...)))
			for _, which := range contract.Originals {
				want := unknown
				if slices.Contains(tc.authors, which) {
					want = author
				}
				if by, _ := h.setterOf(0, which); by != want {
					t.Errorf("amount %d is set by %v, want %v", which, by, want)
				}
				set := slices.ContainsFunc(h.entries, func(e entry) bool { return e.setsAmount(0, which) })
				if set != (want == author) {
					t.Errorf("amount %d is in the record: %t", which, set)
				}
			}
		})
	}
}

func aRecordWithoutResizesStaysAsItIsToTheByte(t *testing.T) {
	const unsorted = `{"f:spec":{"f:restartPolicy":{},"f:containers":{}},"f:metadata":{}}`
	m := podtest.BareMade
	m.FieldsV1 = metav1.NewFieldsV1(unsorted)
	if kept := WithoutResizes([]metav1.ManagedFieldsEntry{m}); len(kept) != 1 || kept[0].FieldsV1.String() != m.FieldsV1.String() {
		t.Errorf("it became %v", kept)
	}
}

func whoCreatedAPod(t *testing.T) {
	changed := func(change func(*metav1.ManagedFieldsEntry)) metav1.ManagedFieldsEntry {
		m := podtest.AsMade
		change(&m)
		return m
	}
	for _, tc := range []struct {
		name  string
		entry metav1.ManagedFieldsEntry
		want  bool
	}{
		{"who set its restart policy", podtest.AsMade, true},
		{"not who set something else", podtest.Managed("they", "", 1, "containers"), false},
		{"nor who set nothing", changed(func(m *metav1.ManagedFieldsEntry) { m.FieldsV1 = nil }), false},
		{"nor who applied it as it is", changed(func(m *metav1.ManagedFieldsEntry) { m.Operation = metav1.ManagedFieldsOperationApply }), false},
		{"nor who says so of a subresource", changed(func(m *metav1.ManagedFieldsEntry) { m.Subresource = "status" }), false},
		{"nor what was merged", changed(func(m *metav1.ManagedFieldsEntry) { m.Manager = ancientChanges }), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := createsPods(tc.entry); got != tc.want {
				t.Errorf("it is: %t", got)
			}
			p := podtest.Pod(guaranteed, func(p *corev1.Pod) { p.ManagedFields = []metav1.ManagedFieldsEntry{tc.entry} })
			if h := historyOf(p); h.created != tc.want {
				t.Errorf("the record goes back to its creation: %t", h.created)
			}
		})
	}
}
