package reconciler

import (
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// infeasibleFor is how long a node is believed that it can never carry a resize out.
// Nothing tells that a kubelet was configured otherwise, unless its machine was
// booted as well.
const infeasibleFor = 24 * time.Hour

// answer is what a node said to a resize that it refuses whatever the amounts are. It
// is kept in an annotation of the pod, so that neither another leader nor a new
// process has all pods of the node ask again.
type answer struct {
	at time.Time
	// machine is the kubelet that said so, as machineOf names it.
	machine string
	message string
}

func (a answer) String() string {
	return a.at.UTC().Format(time.RFC3339) + " " + a.machine + " " + a.message
}

// parseAnswer reads what String has written; false for anything else.
func parseAnswer(text string) (answer, bool) {
	parts := strings.SplitN(text, " ", 3)
	if len(parts) != 3 {
		return answer{}, false
	}
	at, err := time.Parse(time.RFC3339, parts[0])
	message := safety.WhateverTheAmounts(parts[2])
	return answer{at, parts[1], message}, err == nil && message != ""
}

// answerOf returns what a pod says of its node. Only what we wrote counts, on a pod that we
// resized: it concerns other pods, and anybody may annotate a pod that he creates.
func answerOf(pod *corev1.Pod) (answer, bool) {
	text, ok := pod.Annotations[contract.Infeasible]
	if !ok || pod.Spec.NodeName == "" {
		return answer{}, false
	}
	written, resized := false, false
	entries := historyOf(pod).entries
	for i := range entries {
		if m := &entries[i]; m.Manager == contract.FieldManager {
			written = written || m.Subresource == "" && factsOf(m).is(answering) && !factsOf(m).is(creation)
			resized = resized || m.Subresource == resizeSubresource
		}
	}
	if !written || !resized {
		return answer{}, false
	}
	return parseAnswer(text)
}

// stillInfeasible reports whether what the annotation says counts on the node of the
// snapshot.
func stillInfeasible(s *Snapshot) bool {
	said, ok := answerOf(s.Pod)
	return ok && s.Around.Node != nil && said.counts(s.Around.Node, s.Pod.UID, s.Now)
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
	return a.at.Add(infeasibleFor + time.Duration(h.Sum32()%3600)*time.Second)
}

// isOver reports whether an answer counts for no pod of a node any more.
func (a answer) isOver(node *corev1.Node, now time.Time) bool {
	return a.machine != machineOf(node) || now.After(a.at.Add(infeasibleFor+time.Hour))
}

// counts reports whether an answer is believed of a node at a time, on behalf of a pod.
// Nobody has answered in a time to come, but for a clock that is a little ahead.
func (a answer) counts(node *corev1.Node, uid types.UID, now time.Time) bool {
	return a.machine == machineOf(node) && now.Before(a.until(uid)) && a.at.Before(now.Add(time.Minute))
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
func (a *answers) hear(pod *corev1.Pod, node *corev1.Node) {
	said, ok := answerOf(pod)
	if !ok || node == nil || said.machine != machineOf(node) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	of := a.nodes[node.Name]
	if of == nil {
		of = map[string][]answer{}
		a.nodes[node.Name] = of
	}
	all := slices.DeleteFunc(of[pod.Namespace], func(other answer) bool {
		return other.machine != said.machine || other.message == said.message && other.at.Before(said.at)
	})
	if !slices.ContainsFunc(all, func(other answer) bool { return other.message == said.message }) {
		all = append(all, said)
	}
	of[pod.Namespace] = all
}

// forget drops those of a node that is gone.
func (a *answers) forget(node string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.nodes, node)
}

// of returns what counts on a node for a pod now, and when the first of it no longer
// does; the zero time if there is nothing.
func (a *answers) of(node *corev1.Node, pod *corev1.Pod, now time.Time) (messages []string, until time.Time) {
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
			if !s.counts(node, pod.UID, now) {
				continue
			}
			if elsewhere[s.message]++; namespace == pod.Namespace || elsewhere[s.message] == 2 {
				messages = append(messages, s.message)
				if ends := s.until(pod.UID); until.IsZero() || ends.Before(until) {
					until = ends
				}
			}
		}
	}
	slices.Sort(messages)
	return slices.Compact(messages), until
}
