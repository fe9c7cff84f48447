package cluster

import (
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// answers are those of all nodes. Every replica reads them off the pods.
//
// Who may resize pods of a namespace, and write their status, can have them say what he
// likes. So an answer counts for its own namespace, and for others once pods of two have
// it.
type answers struct {
	mu sync.Mutex
	// nodes has them by node, and by the namespaces that have them.
	nodes map[string]map[string][]plan.Answer
}

func newAnswers() *answers { return &answers{nodes: map[string]map[string][]plan.Answer{}} }

// hear takes note of what a pod says of its node, which must be the one. There is at most
// one answer of each kind from a namespace, for the machine that the node is.
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
