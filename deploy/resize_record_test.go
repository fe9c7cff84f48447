package deploy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// recording returns a patch that sets managedFields.
func recording(entries []metav1.ManagedFieldsEntry) string {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"managedFields": entries}})
	if err != nil {
		panic(err) // Decoded objects can be encoded.
	}
	return string(body)
}

func isResize(m metav1.ManagedFieldsEntry) bool { return m.Subresource == "resize" }
func isAncient(m metav1.ManagedFieldsEntry) bool {
	return m.Manager == "ancient-changes"
}

func without(pod *corev1.Pod, which func(metav1.ManagedFieldsEntry) bool) []metav1.ManagedFieldsEntry {
	return slices.DeleteFunc(slices.Clone(pod.ManagedFields), which)
}

func resizes(pod *corev1.Pod) []metav1.ManagedFieldsEntry {
	return without(pod, func(m metav1.ManagedFieldsEntry) bool { return !isResize(m) })
}

// resizeBy returns a managedFields entry for a manager that never resized the pod.
func resizeBy(manager string) metav1.ManagedFieldsEntry {
	now := metav1.Now()
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &now, FieldsType: "FieldsV1", Subresource: "resize",
		FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{"f:resources":{"f:requests":{"f:cpu":{}}}}}}}`),
	}
}

// record tries to change the record of who resized the pod.
func (g *guarded) record(t *testing.T) {
	emptied := func(pod *corev1.Pod) []metav1.ManagedFieldsEntry {
		entries := pod.DeepCopy().ManagedFields
		for i := range entries {
			if isResize(entries[i]) {
				entries[i].FieldsV1 = metav1.NewFieldsV1(`{"f:metadata":{}}`)
			}
		}
		return entries
	}
	for _, tc := range []struct {
		name    string
		entries func(pod *corev1.Pod) []metav1.ManagedFieldsEntry
		refused string
	}{
		{"the server's resize is dropped", func(pod *corev1.Pod) []metav1.ManagedFieldsEntry { return without(pod, isResize) }, refusedRecord},
		{"everything is dropped", func(*corev1.Pod) []metav1.ManagedFieldsEntry { return []metav1.ManagedFieldsEntry{{}} }, refusedRecord},
		{"the server's resize is emptied", emptied, refusedRecord},
		{"a resize is forged", func(pod *corev1.Pod) []metav1.ManagedFieldsEntry { return append(pod.ManagedFields, resizeBy("me")) }, refusedRecord},
		{"a forged resize replaces the server's", func(pod *corev1.Pod) []metav1.ManagedFieldsEntry {
			return append(without(pod, isResize), resizeBy("me"))
		}, refusedRecord},
		{"an entry that is not about sizes is dropped", func(pod *corev1.Pod) []metav1.ManagedFieldsEntry {
			return without(pod, func(m metav1.ManagedFieldsEntry) bool { return m.Subresource == "status" })
		}, ""},
		{"nothing is changed", func(pod *corev1.Pod) []metav1.ManagedFieldsEntry { return pod.ManagedFields }, ""},
	} {
		pod := g.sized(t)
		expect(t, tc.name, patchPod(t.Context(), g.meddler, pod, recording(tc.entries(pod)), ""), tc.refused)
		for _, subresource := range []string{"status", "ephemeralcontainers"} {
			// The API server ignores managedFields in these writes.
			expect(t, tc.name+" through "+subresource, patchPod(t.Context(), g.meddler, pod, recording(tc.entries(pod)), "", subresource), "")
			if now := g.get(t, pod); !equality.Semantic.DeepEqual(resizes(now), resizes(pod)) {
				t.Errorf("%s through %s: the record is %v", tc.name, subresource, now.ManagedFields)
			}
		}
	}
	pod := g.sized(t)
	clean := `{"metadata":{"annotations":{"` + contract.CPURequest.Key("app") + `":null},"managedFields":`
	rest := recording(without(pod, func(m metav1.ManagedFieldsEntry) bool { return m.Manager == contract.FieldManager }))
	clean += strings.TrimPrefix(strings.TrimSuffix(rest, "}"), `{"metadata":{"managedFields":`) + "}"
	expect(t, "the server cleans up a restored pod", patchPod(t.Context(), g.server, pod, clean, contract.FieldManager), "")
	if pod = g.get(t, pod); slices.ContainsFunc(pod.ManagedFields, isResize) {
		t.Errorf("the pod still has a resize: %v", pod.ManagedFields)
	}
}

// manyWriters makes the API server merge the oldest entries.
func (g *guarded) manyWriters(t *testing.T) {
	pod := g.sized(t)
	for i := range 15 {
		body := fmt.Sprintf(`{"metadata":{"labels":{"l%d":"1"}}}`, i)
		expect(t, fmt.Sprintf("writer %d", i), patchPod(t.Context(), g.meddler, pod, body, fmt.Sprintf("writer-%d", i)), "")
	}
	pod = g.get(t, pod)
	if !slices.ContainsFunc(pod.ManagedFields, isAncient) || slices.ContainsFunc(pod.ManagedFields, isResize) {
		t.Fatalf("the API server did not merge entries: %v", pod.ManagedFields)
	}
	expect(t, "the merged entry is dropped", patchPod(t.Context(), g.meddler, pod, recording(without(pod, isAncient)), ""), refusedRecord)
	expect(t, "everything is dropped", patchPod(t.Context(), g.meddler, pod, `{"metadata":{"managedFields":[{}]}}`, ""), refusedRecord)
	madeUp := append(without(pod, func(m metav1.ManagedFieldsEntry) bool { return !isAncient(m) }), resizeBy("me"))
	expect(t, "a forged resize is added to the merged entry", patchPod(t.Context(), g.meddler, pod, recording(madeUp), ""), refusedRecord)
	expect(t, "another label is changed", patchPod(t.Context(), g.meddler, pod, `{"metadata":{"labels":{"l0":"2"}}}`, "writer-20"), "")
}
