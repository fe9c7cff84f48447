package pod

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

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
	// ours is when the reconciler last resized the pod; never if it did not.
	ours int64
	// anybody says that there is a resize by anybody.
	anybody bool
	// answers says that we have recorded what the node said.
	answers bool
	// vouched are the managers that we found to be able to know originals, separated
	// by commas.
	vouched string
	entries []entry
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
			if e.is(vouching) {
				h.vouched = pod.Annotations[contract.OriginalsBy]
			}
		}
	}
	h.created = h.created && !h.cut
	return h
}

// asCreated is the history of a pod that nobody has written since it was created.
func asCreated() history { return history{created: true} }

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
		e := &h.entries[k]
		if !e.setsAmount(i, which) {
			continue
		}
		owned = true
		switch {
		case e.anybodys():
			// Whoever it was.
		case !e.resize:
			made = made || e.is(creation) // Anybody may apply a pod as it is.
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
	return h.vouchedFor(manager) || slices.ContainsFunc(h.entries, func(e entry) bool {
		return e.manager == manager && !e.resize && (e.is(applying) || e.setsOriginal(i, which.OfRequest()))
	})
}

// resizes reports whether a manager set any size that the pod has.
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

// writerOf returns who wrote an original of the i-th container, "" if nobody but its
// creator did, and whether he could know it: who sized the pod could. When he
// wrote it does not matter, as an entry has one time for all of its fields.
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

// adopted reports whether we recorded that an amount of the i-th container was adopted.
func (h *history) adopted(i int, which contract.Original) bool {
	return slices.ContainsFunc(h.entries, func(e entry) bool {
		return e.manager == contract.FieldManager && !e.resize && e.setsAdopted(i, which)
	})
}
