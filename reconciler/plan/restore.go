package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// restoring is what the stages of a restore find out.
type restoring struct {
	// incomplete means that the restore must not remove the originals; awaits, that this is only until the node
	// has completed it.
	incomplete, awaits bool
	// keepOriginals means that a complete restore keeps the annotations with the originals:
	// nothing else proves that the pod has its originals.
	keepOriginals bool
}

// restorable skips pods that cannot be restored, or need not be. The skip
// annotation and the pod's owner do not matter: the originals are only what the pod was
// created with.
func (p *Planner) restorable(d *draft, s *Snapshot) *verdict {
	switch of := s.Pod; {
	case of.Terminating():
		return d.skips(decided, contract.Terminating, "the pod is being deleted")
	case of.Finished():
		return d.skips(decided, contract.Finished, "the pod has ended and can no longer be resized")
	case !of.AnybodyResized() && !of.Marked() && !of.ManagedFieldsCut():
		return asWritten(d)
	case s.Frozen != nil:
		return d.skips(decided, contract.Frozen, s.Frozen.frozen())
	}
	// Wrong annotations no longer matter.
	return &verdict{keep: &keeping{vouches: vouching(d, s.Pod)}}
}

// asWritten skips a pod that needs no restore.
func asWritten(d *draft) *verdict {
	return d.skips(decided, contract.Restored, "the pod has its originals and keeps them")
}

// restoreOriginals gives each resource its original, or says why it stays.
func (p *Planner) restoreOriginals(d *draft, s *Snapshot) *verdict {
	v := d.says()
	for i := range d.Containers {
		c := &d.Containers[i]
		for _, m := range sizing.Measures {
			standing, original, present := d.parts[i].standings[m.Index], *m.Of(&c.Original), *m.Of(&c.Current)
			known := c.knows(m)
			back := Derived{Container: i, Measure: m, To: original, Cause: ByRestore}
			switch {
			case present.Request == 0, known && original == present:
				// The resource has its original, regardless of who set it.
			case standing.Claim == pod.Scales, standing.Claim == pod.Theirs && known && p.External == OverrideExternal:
				v.sets = append(v.sets, back)
			case standing.Claim == pod.Theirs, standing.Claim == pod.Lost:
				v.reasons = append(v.reasons, d.stays(i, m))
			case standing.Claim == pod.LimitStays:
				v.because(contract.InvalidAnnotation, fmt.Sprintf("container %s: %s limit stays: it was added after the pod was created, or its original is lost", c.Name, m.Name))
				if present.Request != present.Limit { // An equal limit keeps the QoS class.
					back.To = settle(standing, m, present, original)
					v.sets = append(v.sets, back)
				}
			}
		}
	}
	return v
}

// awaitLimits keeps the record of a restore that lowers memory limits until the node has
// lowered them: the kubelet does not lower a limit below the usage, and restores nothing else
// of the pod until then.
func (p *Planner) awaitLimits(d *draft, _ *Snapshot) *verdict {
	v := d.says()
	for i := range d.Containers {
		c := &d.Containers[i]
		if has := d.parts[i].of.InForce().Memory.Limit; c.Desired.Memory.Limit >= max(has, c.Current.Memory.Limit) {
			continue
		}
		v.restore = &restoring{awaits: true}
		if d.now.code == contract.ResizeError {
			v.because(d.now.code, fmt.Sprintf("container %s: memory limit is not lowered yet: %s", c.Name, d.now.message))
		} else {
			v.because(contract.ResizeInProgress, fmt.Sprintf("container %s: memory limit is not lowered yet", c.Name))
		}
	}
	return v
}

// finishRestore decides on a restore. It restores what it can and, if that is not everything, keeps all records:
// without the annotations, the originals that are not restored would be lost.
func (p *Planner) finishRestore(d *draft, s *Snapshot) *verdict {
	v, then, found := &verdict{next: decided, decision: Align}, d.fork(), d.restore
	if d.differs() {
		v.decision = Resize
		asked := *s
		asked.Around.Infeasible = nil // A restore that a user requested is tried anyway.
		switch part, veto := d.agree(&asked, true); {
		case veto != nil:
			left := d.unlike(func(i int) *sizing.Container { return &d.Containers[i].Current })
			then.because(veto.Reason, veto.Message+"; not restored: "+joined(left, ", "))
			v.decision = Skip
			for i := range d.Containers {
				for _, m := range sizing.Measures {
					v.sets = append(v.sets, Derived{Container: i, Measure: m, To: *m.Of(&d.Containers[i].Current)})
				}
			}
		case part != nil:
			v.sets, v.vetoed, v.partial, v.without = part.left, true, part.reason.Code, part.without
			then.because(part.reason.Code, part.reason.Message)
		}
	}
	if len(then.Reasons) == 0 {
		v.because(contract.Restored, "the pod gets its originals again"+d.inEmergency())
		// If managedFields are cut, only the originals prove that the pod has its originals.
		found.keepOriginals = s.Pod.ManagedFieldsCut()
		if v.decision == Align && !d.sized && (!s.Pod.Marked() || s.Pod.ManagedFieldsCut() && s.Pod.OnlyOriginals()) {
			return asWritten(d)
		}
		v.restore = &found
		return v
	}
	found.incomplete = true
	if v.decision == Align && !found.awaits {
		v.decision = Skip
	}
	// Reasons that can change by themselves come first, because the pod waits for them.
	slices.SortStableFunc(then.Reasons, func(a, b Reason) int { return cmp.Compare(b.Code.Traits().Waits, a.Code.Traits().Waits) })
	v.reasons, v.alone, v.restore = then.Reasons, true, &found
	return v
}

// inEmergency returns what messages about an emergency restore add; empty for other restores.
func (p *Plan) inEmergency() string {
	if p.Emergency {
		return " in an emergency restore"
	}
	return ""
}

// Removes reports whether a complete restore removes the annotation.
func (p *Plan) Removes(key string) bool {
	if p.made != nil && p.made.restore.keepOriginals && contract.IsOriginal(key) {
		return false
	}
	return contract.Ours(key)
}
