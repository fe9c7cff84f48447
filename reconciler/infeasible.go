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
// Whoever changes its kubelet's configuration mostly starts the machine anew as well,
// which ends it at once.
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
	if len(parts) != 3 || !safety.WhateverTheAmounts(parts[2]) {
		return answer{}, false
	}
	at, err := time.Parse(time.RFC3339, parts[0])
	return answer{at, parts[1], parts[2]}, err == nil
}

// stillInfeasible reports whether what the annotation says counts on the node of the
// snapshot.
func stillInfeasible(text string, s *Snapshot) bool {
	said, ok := parseAnswer(text)
	return ok && s.Around.Node != nil && said.machine == machineOf(s.Around.Node) && s.Now.Before(said.until(s.Pod.UID))
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

// answers are those of all nodes. Every replica reads them off the pods.
type answers struct {
	mu sync.Mutex
	// nodes has them by node and message.
	nodes map[string]map[string]answer
}

func newAnswers() *answers { return &answers{nodes: map[string]map[string]answer{}} }

// hear takes note of what a pod says of its node.
func (a *answers) hear(pod *corev1.Pod) {
	said, ok := parseAnswer(pod.Annotations[contract.Infeasible])
	if !ok || pod.Spec.NodeName == "" {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	of := a.nodes[pod.Spec.NodeName]
	if of == nil {
		of = map[string]answer{}
		a.nodes[pod.Spec.NodeName] = of
	}
	if of[said.message].at.Before(said.at) {
		of[said.message] = said
	}
}

// forget drops those of a node that is gone.
func (a *answers) forget(node string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.nodes, node)
}

// of returns what counts on a node for a pod now, and when the first of it no longer
// does; the zero time if there is nothing.
func (a *answers) of(node *corev1.Node, uid types.UID, now time.Time) (messages []string, until time.Time) {
	if node == nil {
		return nil, time.Time{}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, said := range a.nodes[node.Name] {
		ends := said.until(uid)
		if said.machine != machineOf(node) || !now.Before(ends) {
			continue
		}
		messages = append(messages, said.message)
		if until.IsZero() || ends.Before(until) {
			until = ends
		}
	}
	slices.Sort(messages)
	return messages, until
}
