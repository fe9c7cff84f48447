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
