package pod

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// history is the content of managedFields, the API server's record of field managers: who
// set the amounts of a pod's containers. It needs no write of ours, so no crash can lose it.
// For each amount, it shows who set it last: a manager that changes an amount takes the
// field from all others. An entry has one time for all of its fields, so times prove nothing
// about a single amount.
type history struct {
	// created means that the record goes back to the pod's creation. Without that, nothing
	// follows from a missing entry.
	created bool
	// cut means that the record has entries that any manager may have written. If too many
	// managers write a pod, the API server merges the oldest entries, including resizes.
	cut bool
	// ours is the time when the reconciler last resized the pod; never if it did not.
	ours int64
	// anybody means that at least one manager resized the pod.
	anybody bool
	// answers means that we recorded the node's answer, annotatesSizes that we recorded what a resize
	// changed, annotatesDemand what the containers needed then, and reverts what we reverted.
	answers, annotatesSizes, annotatesDemand, reverts bool
	// vouched are the managers whose originals are trusted (contract.OriginalsBy), separated
	// by commas.
	vouched string
	entries []entry
}

// setter is the kind of manager that set an amount of a container.
type setter int

const (
	// unknown: the record does not say, because it was cut or reset.
	unknown setter = iota
	// admission: only an admission plugin, during a resize.
	admission
	// another: a manager that is neither the reconciler nor the pod's creator.
	another
	// predecessor: another controller that uses the same annotations.
	predecessor
	// us: the reconciler.
	us
	// author: the amount is unchanged since the pod was created or restored.
	author
)

func historyOf(pod *corev1.Pod) history {
	h := history{entries: entriesOf(pod)}
	for i := range h.entries {
		e := &h.entries[i]
		switch {
		case e.anybodys():
			h.cut = true
		case e.resize:
			h.anybody = true
			if e.manager == contract.FieldManager {
				h.ours = e.seconds
			}
		case e.is(creation):
			h.created = true
		case e.manager == contract.FieldManager:
			h.answers = h.answers || e.is(answering)
			h.annotatesSizes = h.annotatesSizes || e.is(annotatingSizes)
			h.annotatesDemand = h.annotatesDemand || e.is(annotatingDemand)
			h.reverts = h.reverts || e.is(reverting)
			if e.is(vouching) {
				h.vouched = pod.Annotations[contract.OriginalsBy]
			}
		}
	}
	h.created = h.created && !h.cut
	return h
}

// asCreated returns the history of a pod that has not been written since it was created.
func asCreated() history { return history{created: true} }

// setterOf returns who set an amount of the i-th container, and the manager's name if it is
// another manager.
//
// An update takes a field from all other managers, so the record contains only the last
// manager that updated an amount. Managers that apply (server-side apply) the current value
// share the field. That shows that they agree, not who was first: a field shared with the
// author is as created, a field shared with us is ours.
//
// No manager owns an amount that an admission plugin added to a resize; the author did not
// write it.
func (h *history) setterOf(i int, which contract.Original) (setter, string) {
	by, name, made, owned, agreed := unknown, "", false, false, false
	for k := range h.entries {
		e := &h.entries[k]
		if !e.setsAmount(i, which) {
			continue
		}
		owned = true
		switch {
		case e.anybodys():
			// Unknown.
		case !e.resize:
			made = made || e.is(creation) // Any manager may apply the pod's current values.
		case e.manager == contract.FieldManager:
			by = us
		case (by == unknown || by == another) && h.keepsOurAnnotations(e.manager, i, which):
			by, name = predecessor, e.manager
		case by == unknown || by == another && agreed && !e.applied:
			by, name, agreed = another, e.manager, e.applied
		}
	}
	switch {
	case made && h.created && (by == unknown || by == another && agreed), !owned && h.created && !h.anybody:
		return author, "" // The oldest entry is merged first, so a cut record has no creation.
	case !owned && h.created:
		return admission, ""
	}
	return by, name
}

// keepsOurAnnotations reports whether a manager that resized the i-th container is a
// controller like us: it wrote what it applied, or the original of the resource that it
// resized. Before we replace these annotations, we vouch for the manager.
func (h *history) keepsOurAnnotations(manager string, i int, which contract.Original) bool {
	return h.vouchedFor(manager) || slices.ContainsFunc(h.entries, func(e entry) bool {
		return e.manager == manager && !e.resize && (e.is(applying) || e.setsOriginal(i, which.OfRequest()))
	})
}

// resizes reports whether the record contains a resize by the manager.
func (h *history) resizes(manager string) bool {
	return slices.ContainsFunc(h.entries, func(e entry) bool { return e.manager == manager && e.resize })
}

func (h *history) vouchedFor(manager string) bool {
	for name := range strings.SplitSeq(h.vouched, ",") {
		if name == manager {
			return true
		}
	}
	return false
}

// writerOf returns the manager that wrote an original of the i-th container, or "" if only
// the pod's creator did, and whether that manager could know the original. A manager that
// resized the pod could. The time of the write does not matter: an entry has one time for
// all of its fields.
func (h *history) writerOf(i int, which contract.Original) (manager string, could bool) {
	could = true
	for k := range h.entries {
		e := &h.entries[k]
		if e.resize || !e.setsOriginal(i, which) || e.is(creation) && !e.anybodys() {
			continue
		}
		manager = e.manager
		if manager != contract.FieldManager && !h.vouchedFor(manager) && !h.resizes(manager) {
			return manager, false
		}
	}
	return manager, could
}

// raisedAtCreation reports whether only admission can have written that another controller raises cpu: that has no manager. The
// creator is no exception, since others may later write in its name.
func (h *history) raisedAtCreation() bool {
	return h.created && !slices.ContainsFunc(h.entries, func(e entry) bool { return e.is(raising) })
}

// adopted reports whether we recorded an amount of the i-th container as adopted.
func (h *history) adopted(i int, which contract.Original) bool {
	return slices.ContainsFunc(h.entries, func(e entry) bool {
		return e.manager == contract.FieldManager && !e.resize && e.setsAdopted(i, which)
	})
}
