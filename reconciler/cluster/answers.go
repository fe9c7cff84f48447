package cluster

import (
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// answers holds the answers of all nodes. Every replica reads them from the pods.
//
// A user who may resize the pods in a namespace and write their status can forge any answer. So
// an answer counts in its own namespace, and in other namespaces only if pods in at least two
// namespaces have it.
type answers struct {
	mu sync.Mutex
	// nodes holds the answers by node and by namespace of the pods that have them.
	nodes map[string]map[string][]plan.Answer
}

func newAnswers() *answers { return &answers{nodes: map[string]map[string][]plan.Answer{}} }

// hear records the answer on a pod about node, which must be the pod's node. For each
// namespace it keeps at most one answer per message, and only of the node's current machine.
func (a *answers) hear(of *pod.Pod, node *corev1.Node) {
	said := plan.AnswerOf(of)
	if said == nil || node == nil || said.Machine != plan.MachineOf(node) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	namespaces := a.nodes[node.Name]
	if namespaces == nil {
		namespaces = map[string][]plan.Answer{}
		a.nodes[node.Name] = namespaces
	}
	all := slices.DeleteFunc(namespaces[of.Namespace()], func(other plan.Answer) bool {
		return other.Machine != said.Machine || other.Message == said.Message && other.At.Before(said.At)
	})
	if !slices.ContainsFunc(all, func(other plan.Answer) bool { return other.Message == said.Message }) {
		all = append(all, *said)
	}
	namespaces[of.Namespace()] = all
}

// forget drops the answers of a deleted node.
func (a *answers) forget(node string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.nodes, node)
}

// of returns the messages of a node that count for a pod now, and when the first of them
// stops counting; the zero time if there are none.
func (a *answers) of(node *corev1.Node, asks *pod.Pod, now time.Time) (messages []string, until time.Time) {
	if node == nil {
		return nil, time.Time{}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	elsewhere := map[string]int{}
	for namespace, said := range a.nodes[node.Name] {
		if said = slices.DeleteFunc(said, func(s plan.Answer) bool { return s.IsOver(node, now) }); len(said) == 0 {
			delete(a.nodes[node.Name], namespace)
			continue
		}
		a.nodes[node.Name][namespace] = said
		for _, s := range said {
			if !s.Counts(node, asks.UID, now) {
				continue
			}
			if elsewhere[s.Message]++; namespace == asks.Namespace() || elsewhere[s.Message] == 2 {
				messages = append(messages, s.Message)
				if ends := s.Until(asks.UID); until.IsZero() || ends.Before(until) {
					until = ends
				}
			}
		}
	}
	slices.Sort(messages)
	return slices.Compact(messages), until
}
