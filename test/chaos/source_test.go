package chaos

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// readEvery is how often a process reads the source, and says what containers need.
const readEvery = 200 * time.Millisecond

// shares are what containers may use on the baseline, in percent of what their authors wrote. They are so far apart
// that hardly any multiple of one that compounds is near another.
var shares = []int64{40, 150, 300}

// speeds are how fast the nodes of each type really are, in percent. Tables may say something else.
var speeds = map[string]int64{"n2d": 100, "n4": 125}

// source is a source of usage of which a test says what it measures.
type source struct {
	world *world
	// owner is the UID of the namespace that controls all pods.
	owner types.UID

	mu sync.Mutex
	// uses is what containers use now, as one of the shares, by their names.
	uses map[string]int64
	// state is how it answers, and reads counts how often it did so.
	state sourceState
	reads int
}

type sourceState int

const (
	works sourceState = iota
	// breaks: it delivers a part of what it has, and then fails.
	breaks
	// gone: it delivers nothing.
	gone
)

var errSource = errors.New("the source is gone")

// keepSource gives the world a source, and a namespace whose pods it measures.
func (w *world) keepSource(t *testing.T, namespace string) *source {
	t.Helper()
	made, err := w.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.source = &source{world: w, owner: made.UID, uses: map[string]int64{}}
	return w.source
}

// Name implements usage.Source, as does Read.
func (s *source) Name() string { return "chaos" }

func (s *source) Read(_ context.Context, _, until time.Time, observe func(usage.Sample)) error {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	delivered := 0
	for _, created := range s.world.created {
		for p := range pairsOf(created) {
			uses := usedOf(p, s.uses[p.container.Name], s.world.nodeTypes[created.Spec.NodeName])
			if uses == 0 || s.state == gone || p.resource == corev1.ResourceMemory && cpuOnly.Load() {
				continue
			}
			if s.state == breaks && delivered > len(s.world.created) {
				return errSource
			}
			delivered++
			sample := usage.Sample{Namespace: created.Namespace, Name: created.Name, Container: p.container.Name}
			sample.UID, sample.At, sample.Length, sample.Usage = string(created.UID), until, readEvery, uses
			sample.Resource = map[corev1.ResourceName]history.Resource{corev1.ResourceCPU: history.CPU, corev1.ResourceMemory: history.Memory}[p.resource]
			observe(sample)
		}
	}
	if s.state != works {
		return errSource
	}
	return nil
}

// usedOf returns how much of a resource a container uses on a node type that uses a share of what its author wrote.
func usedOf(p pair, share int64, nodeType string) int64 {
	uses := p.now().Request * share / 100
	if p.resource == corev1.ResourceCPU {
		uses = uses * 100 / speeds[nodeType]
	}
	return uses
}

// change makes some containers use something else, and may change how the source answers.
func (s *source) change(r *rand.Rand) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range workers {
		for _, c := range workers[i].containers {
			if s.uses[c.name] == 0 || r.IntN(3) == 0 {
				s.uses[c.name] = shares[r.IntN(len(shares))]
			}
		}
	}
	s.state = []sourceState{works, works, works, breaks, gone}[r.IntN(5)]
}

// set makes the source answer in a way.
func (s *source) set(state sourceState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = state
}

// count returns how often the source was read.
func (s *source) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reads
}

// workers are pods of which each container has a name of its own: containers of the same name in a workload need the same.
var workers = []shape{
	{0, []container{{"guaranteed", "1", "1", "4Gi", "4Gi", ""}}},
	{0, []container{{"burstable", "500m", "2", "2Gi", "4Gi", ""}}},
	{0, []container{{"requests", "250m", "", "1Gi", "", ""}}},
	{0, []container{{"cpu", "333m", "", "", "", ""}}},
	{0, []container{{"first", "2", "4", "4Gi", "4Gi", ""}, {"second", "400m", "", "1Gi", "2Gi", ""}}},
	{1, []container{{"sidecar", "200m", "600m", "512Mi", "1Gi", ""}, {"main", "1500m", "", "3Gi", "", ""}}},
}
