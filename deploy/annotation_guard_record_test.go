package deploy

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// foreign is the manager of a resize after the server's.
const foreign = "kubectl-edit"

// resizedBoth returns a pod that the server resized, and another actor an hour later. With
// apply, the server's resize is recorded as a server-side apply.
func (f *forgery) resizedBoth(t *testing.T, apply bool) *corev1.Pod {
	t.Helper()
	pod := f.sized(t)
	body := `{"spec":{"containers":[{"name":"app","resources":{"requests":{"cpu":"900m"}}}]}}`
	if _, err := f.resizer.CoreV1().Pods(pod.Namespace).Patch(t.Context(), pod.Name, types.StrategicMergePatchType, []byte(body), metav1.PatchOptions{FieldManager: foreign}, "resize"); err != nil {
		t.Fatal(err)
	}
	entries := f.get(t, pod).ManagedFields
	if len(slices.DeleteFunc(slices.Clone(entries), func(m metav1.ManagedFieldsEntry) bool { return !isResize(m) })) < 2 {
		entries = append(entries, resizeBy(contract.FieldManager)) // The other manager owns all of the server's fields.
	}
	for i := range entries {
		if m := &entries[i]; isResize(*m) && m.Manager == contract.FieldManager {
			earlier := metav1.NewTime(m.Time.Add(-time.Hour))
			m.Time = &earlier
			if apply {
				m.Operation = metav1.ManagedFieldsOperationApply
			}
		}
	}
	if err := patchPod(t.Context(), f.server, pod, recording(entries), contract.FieldManager); err != nil {
		t.Fatal(err)
	}
	if pod = f.get(t, pod); len(resizes(pod)) != 2 {
		t.Fatalf("the record is %v", pod.ManagedFields)
	}
	return pod
}

func ancient() metav1.ManagedFieldsEntry {
	m := resizeBy("ancient-changes")
	m.Subresource = ""
	return m
}

func (f *forgery) droppedResize(t *testing.T) {
	by := func(managers ...string) func(metav1.ManagedFieldsEntry) bool {
		return func(m metav1.ManagedFieldsEntry) bool {
			return isResize(m) && slices.Contains(managers, m.Manager)
		}
	}
	for _, tc := range []struct {
		name, refused string
		apply         bool
		dropped       []string
	}{
		{"the later resize is dropped, the earlier one stays", refusedRecord, false, []string{foreign}},
		{"the earlier resize is dropped", "", false, []string{contract.FieldManager}},
		{"both are dropped", "", false, []string{contract.FieldManager, foreign}},
		{"a resize by server-side apply is dropped", refusedRecord, true, []string{contract.FieldManager}},
		{"a resize without server-side apply is dropped", "", true, []string{foreign}},
	} {
		pod := f.resizedBoth(t, tc.apply)
		entries := append(without(pod, by(tc.dropped...)), ancient())
		expect(t, tc.name, patchPod(t.Context(), f.meddler, pod, recording(entries), ""), tc.refused)
	}
}

func (f *forgery) realCut(t *testing.T) {
	for _, apply := range []bool{false, true} {
		pod := f.resizedBoth(t, apply)
		for i := range 15 {
			body := fmt.Sprintf(`{"metadata":{"labels":{"l%d":"1"}}}`, i)
			expect(t, fmt.Sprintf("writer %d", i), patchPod(t.Context(), f.meddler, pod, body, fmt.Sprintf("writer-%d", i)), "")
		}
		if pod = f.get(t, pod); !slices.ContainsFunc(pod.ManagedFields, isAncient) || len(resizes(pod)) == 2 {
			t.Fatalf("the API server did not merge entries: %v", pod.ManagedFields)
		}
	}
}

const refusedOwner = "only workload-resizer may become an owner of annotations"

// owners makes the actor that resized the pod last look like an owner of the annotations, so
// that the server would treat the resize as its own.
func (f *forgery) owners(t *testing.T) {
	for name, fields := range map[string]string{
		"owning applied-at":  `{"f:metadata":{"f:annotations":{"f:workload-resizer.io/applied-at":{}}}}`,
		"owning an original": `{"f:metadata":{"f:annotations":{".":{},"f:workload-resizer.io/original-cpu.app":{}}}}`,
	} {
		pod := f.resizedBoth(t, false)
		entry := resizeBy(foreign)
		entry.Subresource, entry.FieldsV1 = "", metav1.NewFieldsV1(fields)
		expect(t, name, patchPod(t.Context(), f.meddler, pod, recording(append(pod.ManagedFields, entry)), ""), refusedOwner)
	}
	for _, tc := range []struct{ name, body, refused string }{
		{"a label of such a name, which the server ignores", `{"metadata":{"labels":{"workload-resizer.io/applied-at":"1"}}}`, ""},
		{"the pod opts out", `{"metadata":{"annotations":{"workload-resizer.io/skip":"true"}}}`, ""},
		{"another label", `{"metadata":{"labels":{"a":"1"}}}`, ""},
	} {
		pod := f.resizedBoth(t, false)
		expect(t, tc.name, patchPod(t.Context(), f.meddler, pod, tc.body, foreign), tc.refused)
	}
}

// creation creates pods with entries for a limit that they lack: the API server keeps these
// entries, but assigns the fields that a new pod has to its creator.
func (f *forgery) creation(t *testing.T) {
	ofLimit := func(m metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
		m.FieldsV1 = metav1.NewFieldsV1(`{"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{"f:resources":{"f:limits":{"f:cpu":{}}}}}}}`)
		return []metav1.ManagedFieldsEntry{m}
	}
	for i, tc := range []struct {
		name, refused string
		annotations   map[string]string
		entries       []metav1.ManagedFieldsEntry
	}{
		{"with a resize", "must not contain a resize", nil, ofLimit(resizeBy(contract.FieldManager))},
		{"with a resize and an original", "must not contain a resize", map[string]string{contract.CPURequest.Key("app"): "7"}, ofLimit(resizeBy("me"))},
		{"with an original", "", map[string]string{contract.CPURequest.Key("app"): "7"}, nil},
		{"with ancient changes", "", nil, ofLimit(ancient())},
		{"without entries", "", nil, nil},
	} {
		no := false
		_, err := f.meddler.CoreV1().Pods("default").Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("created-%d", i), Annotations: tc.annotations, ManagedFields: tc.entries},
			Spec:       corev1.PodSpec{AutomountServiceAccountToken: &no, SchedulerName: "nobody", Containers: []corev1.Container{container("app", "1", "", "", "")}},
		}, metav1.CreateOptions{})
		expect(t, "a pod "+tc.name, err, tc.refused)
	}
}
