package plan

import (
	"hash/fnv"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

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

// InfeasibleFor is how long it counts that a node said it can never satisfy a resize.
// It is limited because a change to the kubelet's configuration cannot be detected
// unless the machine is also rebooted.
const InfeasibleFor = 24 * time.Hour

// AnswerOf returns the node's answer that a pod records, if the message applies to any size;
// nil otherwise.
func AnswerOf(of *pod.Pod) *Answer {
	said := of.Answer()
	if said == nil {
		return nil
	}
	message := safety.WhateverTheAmounts(said.Message)
	if message == "" {
		return nil
	}
	return &Answer{said.At, said.Machine, message}
}

// Answer is a pod.Answer that applies to any size.
type Answer pod.Answer

// stillInfeasible reports whether the pod's recorded answer counts on the node of the
// snapshot.
func stillInfeasible(s *Snapshot) bool {
	said := AnswerOf(s.Pod)
	return said != nil && s.Around.Node != nil && said.Counts(s.Around.Node, s.Pod.UID, s.Now)
}

// MachineOf identifies the kubelet version and the boot of a node: another kubelet, or the
// same kubelet after a reboot, may answer differently.
func MachineOf(node *corev1.Node) string {
	info := &node.Status.NodeInfo
	return strings.ReplaceAll(info.KubeletVersion+"/"+info.BootID, " ", "_")
}

// Until returns when the resize is retried for a pod. The time differs between the pods of a
// node, to spread the retries.
func (a Answer) Until(uid types.UID) time.Time {
	h := fnv.New32a()
	_, _ = h.Write([]byte(uid)) // It never fails.
	return a.At.Add(InfeasibleFor + time.Duration(h.Sum32()%3600)*time.Second)
}

// IsOver reports whether an answer no longer counts for any pod of a node.
func (a Answer) IsOver(node *corev1.Node, now time.Time) bool {
	return a.Machine != MachineOf(node) || now.After(a.At.Add(InfeasibleFor+time.Hour))
}

// Counts reports whether an answer counts for a pod on a node at a time. An answer from the
// future does not count, unless the clock may be slightly ahead.
func (a Answer) Counts(node *corev1.Node, uid types.UID, now time.Time) bool {
	return a.Machine == MachineOf(node) && now.Before(a.Until(uid)) && a.At.Before(now.Add(time.Minute))
}

// Refusal is a size that the pod's node could not satisfy.
type Refusal struct {
	Reason Reason
	// Wanted is the size, as in Plan.Wanted.
	Wanted *Asked
	// Waiting means that no increase is tried yet, and after a ResizeError no change at all.
	// Retry means that the same size may be tried again.
	Waiting, Retry bool
}

// stands reports whether the refusal still prevents the sizes of a plan.
// A revert waits only after the node refused that revert, not because of a different size.
func (r *Refusal) stands(p *Plan, s *Snapshot) bool {
	if r.Waiting && p.Kind != Revert && (p.grows() || r.Reason.Code == contract.ResizeError) {
		return true
	}
	return !r.Retry && r.Wanted.Covers(p.asksFor(s, desired), r.Reason.Code == contract.ResizeInfeasible)
}

// Asked is what a plan asks of a node.
type Asked struct {
	// on is the node, its capacity and its identity.
	on string
	// sizes are the sizes of the containers.
	sizes []sizing.Container
}

// asksFor returns what the plan asks of a node.
func (p *Plan) asksFor(s *Snapshot, of func(*ContainerPlan) *sizing.Container) *Asked {
	a := &Asked{on: p.Node}
	if node := s.Around.Node; node != nil {
		a.on += " " + node.Status.Allocatable.Cpu().String() + " " + node.Status.Allocatable.Memory().String() + " " + MachineOf(node)
	}
	for i := range p.Containers {
		a.sizes = append(a.sizes, *of(&p.Containers[i]))
	}
	return a
}

// practically is the share of an amount by which another one may differ that is practically the same: what usage
// shows changes all the time.
const practically = 0.01

// Covers reports whether other asks practically the same of the same node, or more if orMore. A node that cannot
// satisfy a size cannot satisfy a larger one.
func (a *Asked) Covers(other *Asked, orMore bool) bool {
	near := func(was, is int64) bool {
		more := float64(is-was) / float64(max(was, 1))
		return more >= -practically && (orMore || more <= practically)
	}
	return a.on == other.on && slices.EqualFunc(a.sizes, other.sizes, func(was, is sizing.Container) bool {
		return near(was.CPU.Request, is.CPU.Request) && near(was.CPU.Limit, is.CPU.Limit) && near(was.Memory.Request, is.Memory.Request) && near(was.Memory.Limit, is.Memory.Limit)
	})
}
