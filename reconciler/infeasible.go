package reconciler

import (
	"hash/fnv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// infeasibleFor is how long a node is believed that it can never carry a resize out.
// Nothing tells that a kubelet was configured otherwise, unless its machine was
// booted as well.
const infeasibleFor = 24 * time.Hour

// answer is what a pod says of its node, as far as the message is one that is about no
// amounts; nil if it says nothing of the kind.
func answerOf(of *pod.Pod) *answer {
	said := of.Answer()
	if said == nil {
		return nil
	}
	message := safety.WhateverTheAmounts(said.Message)
	if message == "" {
		return nil
	}
	return &answer{said.At, said.Machine, message}
}

// answer is a pod.Answer that is about no amounts.
type answer pod.Answer

// stillInfeasible reports whether what the annotation says counts on the node of the
// snapshot.
func stillInfeasible(s *Snapshot) bool {
	said := answerOf(s.Pod)
	return said != nil && s.Around.Node != nil && said.counts(s.Around.Node, s.Pod.UID, s.Now)
}

// machineOf names what a node runs: another kubelet, or the same after a restart of
// the machine, may answer otherwise.
func machineOf(node *corev1.Node) string {
	info := &node.Status.NodeInfo
	return strings.ReplaceAll(info.KubeletVersion+"/"+info.BootID, " ", "_")
}

// until is when a node is asked again on behalf of a pod: not of all its pods at once.
func (a answer) until(uid types.UID) time.Time {
	h := fnv.New32a()
	_, _ = h.Write([]byte(uid)) // It never fails.
	return a.At.Add(infeasibleFor + time.Duration(h.Sum32()%3600)*time.Second)
}

// isOver reports whether an answer counts for no pod of a node any more.
func (a answer) isOver(node *corev1.Node, now time.Time) bool {
	return a.Machine != machineOf(node) || now.After(a.At.Add(infeasibleFor+time.Hour))
}

// counts reports whether an answer is believed of a node at a time, on behalf of a pod.
// Nobody has answered in a time to come, but for a clock that is a little ahead.
func (a answer) counts(node *corev1.Node, uid types.UID, now time.Time) bool {
	return a.Machine == machineOf(node) && now.Before(a.until(uid)) && a.At.Before(now.Add(time.Minute))
}
