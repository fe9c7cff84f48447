package plan

import (
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// revertRefused reverts the sizes that the node refuses, if the pod gets no others, so that the spec shows the real sizes
// and no other resource of the pod stays blocked. The spec must not keep a size that the node refuses.
func (p *Planner) revertRefused(d *draft, s *Snapshot) *verdict {
	if !d.sized || d.now.code != contract.ResizeInfeasible && d.now.code != contract.ResizeError {
		return nil
	}
	v := d.says()
	v.note = refusal(s, d.now)
	then := d.fork()
	for i := range d.Containers {
		c, of := &d.Containers[i], d.parts[i].of
		back := c.Current
		if d.now.code == contract.ResizeInfeasible {
			back = of.Allocated()
		} else if has := of.InForce(); has.Memory.Limit > c.Current.Memory.Limit {
			// The kubelet stops at a memory limit that is below the container's usage.
			back.Memory = has.Memory
		}
		for _, m := range sizing.Measures {
			if to := *m.Of(&back); d.ours(i, m) && d.credible(i, m, *m.Of(&c.Current), to) {
				v.sets = append(v.sets, Derived{Container: i, Measure: m, To: to, Cause: ByNode})
			}
		}
	}
	then.set("", v.sets)
	if fits := p.fit(then, s); fits != nil {
		v.sets = append(v.sets, fits.sets...) // Reasons about parts of the size are not useful.
		then.set("", fits.sets)
	}
	// Each resource is checked separately, so together they may have another class.
	if !then.differs() || then.classAfter(s.Pod) != d.QOSClass {
		// The sizes stay. The answer is recorded so that other pods of the node need not ask.
		if stillInfeasible(s) && AnswerOf(s.Pod).Message == safety.WhateverTheAmounts(d.now.message) {
			v.note = ""
		}
		v.sets = nil
		return v
	}
	v.kind, v.next, v.decision = RevertRefused, decided, Resize
	v.wanted = d.asksFor(s, current)
	v.reasons, v.alone = []Reason{{d.now.code, d.now.message}}, true
	if before := s.Pod.AppliedSizes(); before != nil {
		// The container never had the refused size, so that reverting it lowers nothing.
		applied := then.appliedSizes(desired)
		then.keepTimes(applied)
		if text := applied.String(); text != before.String() {
			v.recounted = text
		}
	}
	return v
}

// refusal returns the value of the annotation for a refused size; empty if the node refuses
// only these amounts, or if the annotation has a recent answer with the same message.
func refusal(s *Snapshot, now progress) string {
	message := safety.WhateverTheAmounts(now.message)
	if now.code != contract.ResizeInfeasible || message == "" || s.Around.Node == nil {
		return ""
	}
	said := pod.Answer{At: s.Now, Machine: MachineOf(s.Around.Node), Message: message}
	if before := s.Pod.Answer(); before != nil && before.Machine == said.Machine && before.Message == said.Message && s.Now.Sub(before.At).Abs() < time.Hour {
		return ""
	}
	return said.String()
}

// credible reports whether a container may have had a size: the size is the original, the
// current size, or within bounds. A writer of a pod's status need not be its kubelet, and must
// not be able to set any other size. No resize can add or remove a limit.
func (d *draft) credible(i int, m *sizing.Measure, has, wanted sizing.Amount) bool {
	if (wanted.Limit == 0) != (has.Limit == 0) {
		return false
	}
	c := &d.Containers[i]
	original, n := *m.Of(&c.Original), &c.Needs[m.Index]
	if wanted == has || wanted == original {
		return true
	}
	if original.Request <= 0 || wanted.Request <= 0 {
		return false
	}
	scaled, clamped := m.Scale(original, sizing.Factor{Num: uint64(wanted.Request), Den: uint64(original.Request)}, *n.Bounds)
	inBounds := !clamped || wanted.Request == original.Request || wanted.Request == has.Request
	return inBounds && (wanted.Limit <= max(scaled.Limit, original.Limit, has.Limit) || n.MayHave(m, wanted, d.factor(m), d.guaranteed()))
}
