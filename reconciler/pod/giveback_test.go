package pod

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// madeWith returns the entry of a pod's creator that owns some amounts.
func madeWith(which ...contract.Original) metav1.ManagedFieldsEntry {
	m := podtest.BareMade
	m.FieldsV1 = metav1.NewFieldsV1(`{"f:spec":{"f:containers":{` + podtest.AmountFields("app", which...) + `},"f:restartPolicy":{}}}`)
	return m
}

func TestGiveback(t *testing.T) {
	t.Run("restores the record as created", restoresTheRecordAsCreated)
	t.Run("leaves a record without resizes unchanged to the byte", leavesARecordWithoutResizesUnchangedToTheByte)
	t.Run("recognizes the creator of a pod", recognizesTheCreatorOfAPod)
}

func restoresTheRecordAsCreated(t *testing.T) {
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
		// authors are the amounts that belong to the author again.
		authors []contract.Original
	}{
		{"keeps a record without resizes", []metav1.ManagedFieldsEntry{podtest.AsMade, kubelet}, []string{"kube-controller-manager", "kubelet"}, contract.Originals[:]},
		{"removes our resize", []metav1.ManagedFieldsEntry{podtest.BareMade, kubelet, podtest.ResizeOf(10, "app"), ours}, []string{"kube-controller-manager", "kubelet"}, contract.Originals[:]},
		{"removes resizes of several managers", []metav1.ManagedFieldsEntry{kubelet, madeWith(cpu), podtest.ResizeBy("they", 5, cpuLimit, memory), empty, podtest.ResizeBy("others", 6, memoryLimit)}, []string{"kubelet", "kube-controller-manager"}, contract.Originals[:]},
		{"adds fields to the creator's lists", []metav1.ManagedFieldsEntry{madeWith(cpu, cpuLimit), podtest.ResizeBy("they", 5, memory, memoryLimit)}, []string{"kube-controller-manager"}, contract.Originals[:]},
		{"keeps managers that wrote other fields", []metav1.ManagedFieldsEntry{podtest.BareMade, gitops, podtest.ResizeOf(10, "app"), ours}, []string{"kube-controller-manager", "gitops"}, contract.Originals[:]},
		{"keeps our entry if we created the pod", []metav1.ManagedFieldsEntry{byUs, podtest.ResizeOf(10, "app"), ours}, []string{contract.FieldManager}, contract.Originals[:]},
		{"restores nothing without a known creator", []metav1.ManagedFieldsEntry{gitops, podtest.ResizeOf(10, "app"), ours}, []string{"gitops"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			kept := WithoutResizes(tc.entries)
			var managers []string
			for _, m := range kept {
				managers = append(managers, m.Manager)
			}
			if !slices.Equal(managers, tc.kept) {
				t.Errorf("the managers are %q, want %q", managers, tc.kept)
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

func leavesARecordWithoutResizesUnchangedToTheByte(t *testing.T) {
	const unsorted = `{"f:spec":{"f:restartPolicy":{},"f:containers":{}},"f:metadata":{}}`
	m := podtest.BareMade
	m.FieldsV1 = metav1.NewFieldsV1(unsorted)
	if kept := WithoutResizes([]metav1.ManagedFieldsEntry{m}); len(kept) != 1 || kept[0].FieldsV1.String() != m.FieldsV1.String() {
		t.Errorf("the record became %v", kept)
	}
}

func recognizesTheCreatorOfAPod(t *testing.T) {
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
		{"accepts an update that sets the restart policy", podtest.AsMade, true},
		{"rejects an entry with other fields", podtest.Managed("they", "", 1, "containers"), false},
		{"rejects an entry without fields", changed(func(m *metav1.ManagedFieldsEntry) { m.FieldsV1 = nil }), false},
		{"rejects server-side apply", changed(func(m *metav1.ManagedFieldsEntry) { m.Operation = metav1.ManagedFieldsOperationApply }), false},
		{"rejects a subresource", changed(func(m *metav1.ManagedFieldsEntry) { m.Subresource = "status" }), false},
		{"rejects merged entries", changed(func(m *metav1.ManagedFieldsEntry) { m.Manager = ancientChanges }), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := createsPods(tc.entry); got != tc.want {
				t.Errorf("createsPods is %t", got)
			}
			p := podtest.Pod(guaranteed, func(p *corev1.Pod) { p.ManagedFields = []metav1.ManagedFieldsEntry{tc.entry} })
			if h := historyOf(p); h.created != tc.want {
				t.Errorf("the record goes back to the creation: %t", h.created)
			}
		})
	}
}
