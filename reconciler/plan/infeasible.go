package plan

import (
	"hash/fnv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// InfeasibleFor is how long a node is believed that it can never carry a resize out.
// Nothing tells that a kubelet was configured otherwise, unless its machine was
// booted as well.
const InfeasibleFor = 24 * time.Hour

// AnswerOf is what a pod says of its node, as far as the message is one that is about no
// amounts; nil if it says nothing of the kind.
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

// Answer is a pod.Answer that is about no amounts.
type Answer pod.Answer

// stillInfeasible reports whether what the annotation says counts on the node of the
// snapshot.
func stillInfeasible(s *Snapshot) bool {
	said := AnswerOf(s.Pod)
	return said != nil && s.Around.Node != nil && said.Counts(s.Around.Node, s.Pod.UID, s.Now)
}

// MachineOf names what a node runs: another kubelet, or the same after a restart of
// the machine, may answer otherwise.
func MachineOf(node *corev1.Node) string {
	info := &node.Status.NodeInfo
	return strings.ReplaceAll(info.KubeletVersion+"/"+info.BootID, " ", "_")
}

// Until is when a node is asked again on behalf of a pod: not of all its pods at once.
func (a Answer) Until(uid types.UID) time.Time {
	h := fnv.New32a()
	_, _ = h.Write([]byte(uid)) // It never fails.
	return a.At.Add(InfeasibleFor + time.Duration(h.Sum32()%3600)*time.Second)
}

// IsOver reports whether an answer counts for no pod of a node any more.
func (a Answer) IsOver(node *corev1.Node, now time.Time) bool {
	return a.Machine != MachineOf(node) || now.After(a.At.Add(InfeasibleFor+time.Hour))
}

// Counts reports whether an answer is believed of a node at a time, on behalf of a pod.
// Nobody has answered in a time to come, but for a clock that is a little ahead.
func (a Answer) Counts(node *corev1.Node, uid types.UID, now time.Time) bool {
	return a.Machine == MachineOf(node) && now.Before(a.Until(uid)) && a.At.Before(now.Add(time.Minute))
}
