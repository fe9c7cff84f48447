package pod

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// WithoutResizes returns managedFields as if the pod had never been resized: without our
// entries and without resizes. The creator again owns the fields that resizes took from it.
func WithoutResizes(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	var kept []metav1.ManagedFieldsEntry
	creator, sizes := -1, map[string]any{}
	for _, m := range entries {
		switch {
		case m.Subresource == contract.ResizeSubresource:
			merge(sizes, fieldsOf(m))
		case m.Manager == contract.FieldManager && !createsPods(m):
		default:
			if createsPods(m) {
				creator = len(kept)
			}
			kept = append(kept, m)
		}
	}
	if creator < 0 || len(sizes) == 0 {
		return kept
	}
	all := fieldsOf(kept[creator])
	merge(all, sizes)
	raw, err := json.Marshal(all)
	if err != nil {
		return kept // It was read from JSON.
	}
	kept[creator].FieldsV1 = metav1.NewFieldsV1(string(raw))
	return kept
}

// createsPods reports whether an entry belongs to the pod's creator.
func createsPods(m metav1.ManagedFieldsEntry) bool {
	if m.FieldsV1 == nil || m.Operation == metav1.ManagedFieldsOperationApply || m.Subresource != "" || (&entry{manager: m.Manager}).anybodys() {
		return false
	}
	return valueOf(valueOf(m.FieldsV1.GetRawBytes(), `"f:spec"`), `"f:restartPolicy"`) != nil
}

// fieldsOf returns the fields of an entry; none if they cannot be parsed, which the API
// server rules out.
func fieldsOf(m metav1.ManagedFieldsEntry) map[string]any {
	fields := map[string]any{}
	if m.FieldsV1 != nil {
		_ = json.Unmarshal(m.FieldsV1.GetRawBytes(), &fields)
	}
	return fields
}

// merge adds fields to into, recursively.
func merge(into, fields map[string]any) {
	for key, value := range fields {
		below, ok := value.(map[string]any)
		there, has := into[key].(map[string]any)
		if ok && has {
			merge(there, below)
			continue
		}
		into[key] = value
	}
}
