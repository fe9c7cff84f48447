package reconciler

import (
	"hash/fnv"
	"slices"
	"strings"
	"sync"
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

// answers are those of all nodes. Every replica reads them off the pods.
//
// Who may resize pods of a namespace, and write their status, can have them say what he
// likes. So an answer counts for its own namespace, and for others once pods of two have
// it.
type answers struct {
	mu sync.Mutex
	// nodes has them by node, and by the namespaces that have them.
	nodes map[string]map[string][]answer
}

func newAnswers() *answers { return &answers{nodes: map[string]map[string][]answer{}} }

// hear takes note of what a pod says of its node, which must be the one. There is at most
// one answer of each kind from a namespace, for the machine that the node is.
func (a *answers) hear(of *pod.Pod, node *corev1.Node) {
	said := answerOf(of)
	if said == nil || node == nil || said.Machine != machineOf(node) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	namespaces := a.nodes[node.Name]
	if namespaces == nil {
		namespaces = map[string][]answer{}
		a.nodes[node.Name] = namespaces
	}
	all := slices.DeleteFunc(namespaces[of.Namespace()], func(other answer) bool {
		return other.Machine != said.Machine || other.Message == said.Message && other.At.Before(said.At)
	})
	if !slices.ContainsFunc(all, func(other answer) bool { return other.Message == said.Message }) {
		all = append(all, *said)
	}
	namespaces[of.Namespace()] = all
}

// forget drops those of a node that is gone.
func (a *answers) forget(node string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.nodes, node)
}

// of returns what counts on a node for a pod now, and when the first of it no longer
// does; the zero time if there is nothing.
func (a *answers) of(node *corev1.Node, asks *pod.Pod, now time.Time) (messages []string, until time.Time) {
	if node == nil {
		return nil, time.Time{}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	elsewhere := map[string]int{}
	for namespace, said := range a.nodes[node.Name] {
		if said = slices.DeleteFunc(said, func(s answer) bool { return s.isOver(node, now) }); len(said) == 0 {
			delete(a.nodes[node.Name], namespace)
			continue
		}
		a.nodes[node.Name][namespace] = said
		for _, s := range said {
			if !s.counts(node, asks.UID, now) {
				continue
			}
			if elsewhere[s.Message]++; namespace == asks.Namespace() || elsewhere[s.Message] == 2 {
				messages = append(messages, s.Message)
				if ends := s.until(asks.UID); until.IsZero() || ends.Before(until) {
					until = ends
				}
			}
		}
	}
	slices.Sort(messages)
	return slices.Compact(messages), until
}
