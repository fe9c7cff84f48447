package reconciler

import (
	"bytes"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// history is what the API server's record of field managers (managedFields)
// tells of who sized a pod. It needs no write of ours, so that no crash can lose
// it. Times are whole seconds of the API server's clock.
type history struct {
	// created tells that the record goes back to the pod's creation: without
	// that, nothing follows from what it lacks.
	created bool
	// cut tells that the API server has thrown together what it knew longest,
	// resizes as well, because too many managers wrote the pod.
	cut bool
	// ours is when the reconciler last resized the pod; zero if it never did.
	ours time.Time
	// other resized the pod last, except us, at otherAt.
	other   string
	otherAt time.Time
	// known is when the last resize by another manager was done that counts as
	// ours: by a controller that keeps the same annotations, or adopted.
	known time.Time
	// stranger wrote one of the originals after our last resize, but neither
	// created nor resized the pod.
	stranger string
	// entries are the pod's managedFields.
	entries []metav1.ManagedFieldsEntry
}

// resized tells whether anybody ever resized the pod.
func (h *history) resized() bool { return !h.ours.IsZero() || h.other != "" }

// untouched tells that a container of the pod certainly has what it was created
// with, whatever was done to others.
func (h *history) untouched(container string) bool {
	if !h.created {
		return false
	}
	for i := range h.entries {
		if m := &h.entries[i]; m.Subresource == resizeSubresource && (m.FieldsV1 == nil || hasContainer(m, container)) {
			return false
		}
	}
	return true
}

// external tells whether somebody else resized the pod after we, or a controller
// that keeps the same annotations, last did.
func (h *history) external() bool {
	return h.other != "" && h.otherAt.After(h.ours) && h.otherAt.After(h.known)
}

// ancientChanges is the manager of the entry that the API server merges the oldest
// into where there are more than ten.
const ancientChanges = "ancient-changes"

// resizeSubresource is the subresource that sizes are written through.
const resizeSubresource = "resize"

func historyOf(pod *corev1.Pod) history {
	h := history{entries: pod.ManagedFields}
	cut := false
	for i := range pod.ManagedFields {
		m := &pod.ManagedFields[i]
		switch {
		case m.Manager == ancientChanges:
			cut = true
		case m.Subresource == resizeSubresource && m.Manager == contract.FieldManager:
			h.ours = timeOf(m)
		case m.Subresource == resizeSubresource:
			if at := timeOf(m); h.other == "" || at.After(h.otherAt) {
				h.other, h.otherAt = m.Manager, at
			}
		case m.Subresource == "" && has(m, fieldCreation):
			h.created = true
		}
	}
	h.created, h.cut = h.created && !cut, cut
	for i := range pod.ManagedFields {
		m := &pod.ManagedFields[i]
		switch {
		case m.Subresource != "":
		case m.Manager == h.other && has(m, fieldApplied):
			h.known = latest(h.known, timeOf(m))
		case h.other != "" && m.Manager == contract.FieldManager && has(m, fieldAdopted):
			// What cannot be read is as good as not there, and nobody adopts
			// what is yet to come.
			if at, err := time.Parse(time.RFC3339, pod.Annotations[contract.AdoptedAt]); err == nil && !at.After(h.otherAt) {
				h.known = latest(h.known, at)
			}
		}
		if !h.mayKnowOriginals(m) && has(m, fieldOriginals) {
			h.stranger = m.Manager
		}
	}
	return h
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// mayKnowOriginals tells whether who wrote originals is who sized the pod, or
// created it. What was written before our last resize was found good then: it
// may be by a controller whose own resize ours took the place of.
func (h *history) mayKnowOriginals(m *metav1.ManagedFieldsEntry) bool {
	if m.Manager == ancientChanges {
		return false
	}
	if m.Manager == contract.FieldManager || timeOf(m).Before(h.ours) || has(m, fieldCreation) {
		return true
	}
	for i := range h.entries {
		if h.entries[i].Subresource == resizeSubresource && h.entries[i].Manager == m.Manager {
			return true
		}
	}
	return false
}

// timeOf is never zero, so that an entry counts even if it has no time.
func timeOf(m *metav1.ManagedFieldsEntry) time.Time {
	if m.Time == nil {
		return time.Unix(0, 0)
	}
	return m.Time.Time
}

// hasContainer tells whether the entry has fields of the container, whose key in
// it is k:{"name":"NAME"}, quoted.
func hasContainer(m *metav1.ManagedFieldsEntry, container string) bool {
	const before, after, longest = `\"name\":\"`, `\"`, 63
	if len(container) > longest {
		return true // No container is called so.
	}
	// Built where it costs no allocation, as it is for each plan.
	var key [len(before) + longest + len(after)]byte
	n := copy(key[:], before)
	n += copy(key[n:], container)
	n += copy(key[n:], after)
	return m.FieldsV1 != nil && bytes.Contains(m.FieldsV1.GetRawBytes(), key[:n])
}

// trimHistory keeps of managedFields, the largest part of most pods, what
// historyOf reads.
func trimHistory(pod *corev1.Pod) []metav1.ManagedFieldsEntry {
	var kept []metav1.ManagedFieldsEntry
	for i := range pod.ManagedFields {
		m := &pod.ManagedFields[i]
		if m.Subresource == resizeSubresource {
			kept = append(kept, metav1.ManagedFieldsEntry{Manager: m.Manager, Subresource: m.Subresource, Time: m.Time, FieldsV1: trimContainerFields(m, pod)})
			continue
		}
		if m.Subresource != "" {
			continue
		}
		which := 0
		for bit, field := range trimmedTo {
			if has(m, field) {
				which |= 1 << bit
			}
		}
		if which > 0 || m.Manager == ancientChanges {
			kept = append(kept, metav1.ManagedFieldsEntry{Manager: m.Manager, Time: m.Time, FieldsV1: trimmedFields[which]})
		}
	}
	return kept
}

// trimContainerFields keeps of an entry which containers it has fields of.
func trimContainerFields(m *metav1.ManagedFieldsEntry, pod *corev1.Pod) *metav1.FieldsV1 {
	if m.FieldsV1 == nil {
		return nil
	}
	var raw []byte
	for _, containers := range [...][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range containers {
			if name := containers[i].Name; hasContainer(m, name) {
				raw = append(raw, `\"name\":\"`+name+`\"`...)
			}
		}
	}
	return metav1.NewFieldsV1(string(raw))
}

// trimmedTo are the fields that are kept of an entry for the pod itself.
var trimmedTo = [...]field{fieldCreation, fieldApplied, fieldAdopted, fieldOriginals}

// trimmedFields are all that is left of the fields of such an entry, by a bit for
// each that it has. All pods share them.
var trimmedFields = func() (fields [1 << len(trimmedTo)]*metav1.FieldsV1) {
	for which := range fields {
		var raw []byte
		for bit, field := range trimmedTo {
			if which&(1<<bit) > 0 {
				raw = append(raw, field.begins...)
			}
		}
		fields[which] = metav1.NewFieldsV1(string(raw))
	}
	return fields
}()
