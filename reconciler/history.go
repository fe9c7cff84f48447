package reconciler

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// history is what the API server's record of field managers (managedFields)
// says of who set the amounts of a pod's containers. It needs no write of ours, so
// that no crash can lose it. Of each amount it says who set it last: whoever
// changes an amount takes the field over from all others. An entry has one time
// for all of its fields, so times prove nothing about a single amount.
type history struct {
	// created says that the record goes back to the pod's creation: without
	// that, nothing follows from what it lacks.
	created bool
	// cut says that the API server has merged what it knew longest into one entry,
	// resizes as well, because too many managers wrote the pod.
	cut bool
	// ours is when the reconciler last resized the pod; zero if it never did. It is
	// in whole seconds of the API server's clock.
	ours time.Time
	// anybody says that there is a resize by anybody.
	anybody bool
	// adopts says that we have recorded what we adopted.
	adopts bool
	// vouched are the managers that we found to be able to know originals, separated
	// by commas.
	vouched string
	// entries are the pod's managedFields, trimmed.
	entries []metav1.ManagedFieldsEntry
}

// setter is who set an amount that a container has.
type setter int

const (
	// unknown: the record does not say, as it was cut or reset.
	unknown setter = iota
	// admission: nobody but an admission plugin, with somebody's resize.
	admission
	// another: neither we nor who created the pod.
	another
	// predecessor: another controller that keeps the same annotations.
	predecessor
	// us: the reconciler.
	us
	// author: the amount is as the pod was created, or restored.
	author
)

// The API server merges the oldest entries into one of ancientChanges where there are
// more than ten, and gives beforeFirstApply what nobody has if a pod without a
// record is applied to.
const (
	ancientChanges   = "ancient-changes"
	beforeFirstApply = "before-first-apply"
)

// isAnybodys reports whether an entry has what anybody may have set.
func isAnybodys(m *metav1.ManagedFieldsEntry) bool {
	return m.Manager == ancientChanges || m.Manager == beforeFirstApply
}

// resizeSubresource is the subresource that sizes are written through.
const resizeSubresource = "resize"

func historyOf(pod *corev1.Pod) history {
	h := history{entries: pod.ManagedFields}
	for i := range h.entries {
		if !isTrimmed(&h.entries[i]) {
			h.entries = trimHistory(pod)
			break
		}
	}
	for i := range h.entries {
		m := &h.entries[i]
		switch {
		case isAnybodys(m):
			h.cut = true
		case m.Subresource == resizeSubresource:
			h.anybody = true
			if m.Manager == contract.FieldManager {
				h.ours = timeOf(m)
			}
		case factsOf(m).is(creation):
			h.created = true
		case m.Manager == contract.FieldManager:
			h.adopts = h.adopts || factsOf(m).is(adopting)
			if factsOf(m).is(vouching) {
				h.vouched = pod.Annotations[contract.OriginalsBy]
			}
		}
	}
	h.created = h.created && !h.cut
	return h
}

// setterOf returns who set an amount of the i-th container, and the name of another
// manager. An update takes a field from all others, so that who updated an amount
// last is the only one in the record who ever did. Managers that apply (server-side
// apply) the value that a field has share it, which says that they agree and not who
// was first: shared with the author it is as created, shared with us it is ours.
//
// Nobody has what an admission plugin added to a resize, which is not the author's.
func (h *history) setterOf(i int, which contract.Original) (setter, string) {
	by, name, made, owned, agreed := unknown, "", false, false, false
	for k := range h.entries {
		m := &h.entries[k]
		if !factsOf(m).setsAmount(i, which) {
			continue
		}
		owned = true
		applied := m.Operation == metav1.ManagedFieldsOperationApply
		switch {
		case isAnybodys(m):
			// Whoever it was.
		case m.Subresource != resizeSubresource:
			made = made || factsOf(m).is(creation) // Anybody may apply a pod as it is.
		case m.Manager == contract.FieldManager:
			by = us
		case (by == unknown || by == another) && h.keepsOurAnnotations(m.Manager, i, which):
			by, name = predecessor, m.Manager
		case by == unknown || by == another && agreed && !applied:
			by, name, agreed = another, m.Manager, applied
		}
	}
	switch {
	case made && h.created && (by == unknown || by == another && agreed), !owned && h.created && !h.anybody:
		return author, "" // The oldest entry is merged first, so that a cut record has no creation.
	case !owned && h.created:
		return admission, ""
	}
	return by, name
}

// keepsOurAnnotations reports whether a manager that resized the i-th container is a
// controller like us: it wrote what was applied, or the original of what it resized. Before
// we write these in its place, it is vouched for.
func (h *history) keepsOurAnnotations(manager string, i int, which contract.Original) bool {
	return h.vouchedFor(manager) || slices.ContainsFunc(h.entries, func(m metav1.ManagedFieldsEntry) bool {
		f := factsOf(&m)
		return m.Manager == manager && m.Subresource == "" && (f.is(applying) || f.setsOriginal(i, which.OfRequest()))
	})
}

// resized reports whether we set any amount of the i-th container.
func (h *history) resized(i int) bool {
	return slices.ContainsFunc(contract.Originals[:], func(which contract.Original) bool {
		by, _ := h.setterOf(i, which)
		return by == us || by == predecessor
	})
}

// resizes reports whether a manager set any size that the pod has.
func (h *history) resizes(manager string) bool {
	return slices.ContainsFunc(h.entries, func(m metav1.ManagedFieldsEntry) bool {
		return m.Manager == manager && m.Subresource == resizeSubresource
	})
}

func (h *history) vouchedFor(manager string) bool {
	for name := range strings.SplitSeq(h.vouched, ",") {
		if name == manager {
			return true
		}
	}
	return false
}

// writerOf returns who wrote an original of the i-th container, "" if nobody but its
// creator did, and whether he could know it: who sized the pod could. When he
// wrote it does not matter, as an entry has one time for all of its fields.
func (h *history) writerOf(i int, which contract.Original) (manager string, could bool) {
	could = true
	for k := range h.entries {
		m := &h.entries[k]
		if m.Subresource != "" || !factsOf(m).setsOriginal(i, which) || factsOf(m).is(creation) && !isAnybodys(m) {
			continue
		}
		manager = m.Manager
		if manager != contract.FieldManager && !h.vouchedFor(manager) && !h.resizes(manager) {
			return manager, false
		}
	}
	return manager, could
}

// timeOf is never zero, so that an entry counts even if it has no time.
func timeOf(m *metav1.ManagedFieldsEntry) time.Time {
	if m.Time == nil {
		return time.Unix(0, 0)
	}
	return m.Time.Time
}
