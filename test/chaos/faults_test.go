package chaos

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// failures are all ways in which a write can fail.
var failures = []localcluster.Action{
	localcluster.CutBefore, localcluster.ForwardThenCut, localcluster.HangBefore, localcluster.ForwardThenHang,
	localcluster.AnswerForbidden, localcluster.AnswerConflict, localcluster.AnswerInvalid,
	localcluster.AnswerTooManyRequests, localcluster.AnswerInternalError, localcluster.AnswerUnavailable,
}

// target is a step of a pod.
type target struct {
	pod  types.NamespacedName
	step string
}

func targetOf(w localcluster.Write) target {
	return target{types.NamespacedName{Namespace: w.Namespace, Name: w.Pod}, stepOf(w.Subresource, w.Body)}
}

// once makes steps of pods fail, each of them once.
type once struct {
	mu   sync.Mutex
	left map[target]localcluster.Action
}

func (o *once) onWrite(w localcluster.Write) localcluster.Action {
	o.mu.Lock()
	defer o.mu.Unlock()
	at := targetOf(w)
	action := o.left[at] // Forward if there is none.
	delete(o.left, at)
	return action
}

func (o *once) let(at target, action localcluster.Action) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.left[at] = action
}

// happened returns an error if the step has not failed yet.
func (o *once) happened(at target) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, left := o.left[at]; left {
		return fmt.Errorf("step %s of %s was never written", at.step, at.pod)
	}
	return nil
}

// eachFailureOnEachStep has a pod for each failure of each step. All of them must be
// right in the end.
func (s *suite) eachFailureOnEachStep(t *testing.T) {
	w := newWorld(t, s.config, simpleTable("1.25"), "n4", "n2d")
	faults := &once{left: map[target]localcluster.Action{}}
	proxy := localcluster.ProxyForTest(t, s.config, faults.onWrite)
	journeys := []struct {
		name, step string
		node       int
		// restored is whether the step belongs to a restore, which follows a resize
		// without failures.
		restored bool
	}{
		{"originals", "originals", 0, false},
		{"resize", "resize", 0, false},
		{"applied", "applied", 0, false},
		{"record", "record", 1, false},
		{"restore", "resize", 0, true},
		{"clean", "clean", 0, true},
		{"clean-record", "clean", 1, true},
	}
	sized, restored := map[target]localcluster.Action{}, map[target]localcluster.Action{}
	for _, j := range journeys {
		for _, action := range failures {
			name := j.name + "-" + strings.ReplaceAll(action.String(), " ", "-")
			at := target{w.create(t, plain, name, &shapes[0], j.node), j.step}
			if j.restored {
				restored[at] = action
				continue
			}
			sized[at] = action
			faults.let(at, action)
		}
	}
	w.awaitRunning(t)
	o := w.observe(t)
	w.start(t, s.through(proxy), s.through(proxy))
	w.awaitFailedAndRight(t, faults, sized)
	for at := range restored {
		localcluster.Eventually(t, at.pod.String()+" to be sized", func() error { return w.right(at.pod) })
	}
	for at, action := range restored {
		faults.let(at, action)
		w.holds.put(hold.Restore, hold.Scope{Namespace: at.pod.Namespace, Pod: at.pod.Name, UID: w.created[at.pod].UID})
	}
	w.awaitFailedAndRight(t, faults, restored)
	o.check(t)
}

func (w *world) awaitFailedAndRight(t *testing.T, faults *once, targets map[target]localcluster.Action) {
	t.Helper()
	for at := range targets {
		t.Run(at.pod.Name, func(t *testing.T) {
			localcluster.Eventually(t, "the failure", func() error { return faults.happened(at) })
			localcluster.Eventually(t, "the pod to be right", func() error { return w.right(at.pod) })
		})
	}
}

// brokenWatches breaks the first watches of pods and nodes. Changes during that time must
// not be missed.
func (s *suite) brokenWatches(t *testing.T) {
	for _, action := range []localcluster.Action{
		localcluster.CutWhileForwarding, localcluster.ExpireWatch, localcluster.CutBefore, localcluster.AnswerInternalError, localcluster.AnswerTooManyRequests,
	} {
		t.Run(action.String(), func(t *testing.T) {
			w := newWorld(t, s.config, simpleTable("1.25"), "n4", "n2d")
			w.createMixed(t, len(shapes), plain)
			var mu sync.Mutex
			broken := map[string]int{}
			proxy := localcluster.ProxyForTest(t, s.config, nil)
			proxy.Interfere(func(r *http.Request) localcluster.Action {
				mu.Lock()
				defer mu.Unlock()
				if !isWatch(r) || broken[r.URL.Path] == 2 {
					return localcluster.Forward
				}
				broken[r.URL.Path]++
				return action
			})
			w.start(t, s.through(proxy), s.through(proxy))
			w.awaitAllRight(t, "at first")
			w.setNodeType(t, w.nodes[1].Name, "n4")
			w.create(t, plain, "new", &shapes[0], 0)
			w.awaitAllRight(t, "after the changes while watches were broken")
			mu.Lock()
			defer mu.Unlock()
			for _, path := range []string{"/api/v1/pods", "/api/v1/nodes"} {
				if broken[path] == 0 {
					t.Errorf("no watch of %s was broken", path)
				}
			}
		})
	}
}

func isWatch(r *http.Request) bool { return r.URL.Query().Get("watch") == "true" }
