package guard

import (
	"fmt"
	"sync"
	"testing"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// TestCrashes kills servers at each of their writes, changes the leader, and stops the API server.
// In the end, each pod whose resize hurts has its former size.
func TestCrashes(t *testing.T) {
	t.Parallel()
	s := newSuite(t, localcluster.Options{Nodes: "n4=1"}, configOf(1.25, everyPod))
	t.Run("killed at each write", s.killedAtEachWrite)
	t.Run("another replica leads", s.anotherReplicaLeads)
	t.Run("the API server is gone", s.apiServerGone)
}

// A resize takes three writes to a pod: the originals, the sizes, and what was applied. A revert
// takes two: what is reverted, and the sizes.
const resizeWrites, revertWrites = 3, 2

// cut is a write of the server to the pod of a namespace at which the server is killed.
type cut struct {
	namespace string
	// at is the number of the write, from 1, and how is what happens to it.
	at  int
	how localcluster.Action

	writes  int
	reached bool
}

// cuts are the cuts of one server.
type cuts struct {
	mu  sync.Mutex
	all map[string]*cut
}

// newCuts returns a cut before and after each of so many writes.
func newCuts(prefix string, writes int) *cuts {
	c := &cuts{all: map[string]*cut{}}
	for at := 1; at <= writes; at++ {
		for _, how := range []localcluster.Action{localcluster.CutBefore, localcluster.ForwardThenHang} {
			namespace := fmt.Sprintf("%s-%d-%d", prefix, at, how)
			c.all[namespace] = &cut{namespace: namespace, at: at, how: how}
		}
	}
	return c
}

// act chooses what happens to a write. After the cut, no write of the server gets through.
func (c *cuts) act(w localcluster.Write) localcluster.Action {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.all[w.Namespace]
	if of == nil {
		return localcluster.Forward
	}
	of.writes++
	switch {
	case of.writes < of.at:
		return localcluster.Forward
	case of.writes == of.at:
		of.reached = true
		return of.how
	}
	return localcluster.HangBefore
}

// await waits until all cuts are reached.
func (c *cuts) await(t *testing.T) {
	t.Helper()
	localcluster.Eventually(t, "the writes at which the server is killed", func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, of := range c.all {
			if !of.reached {
				return fmt.Errorf("write %d in %s was not sent; there were %d", of.at, of.namespace, of.writes)
			}
		}
		return nil
	})
}

// killedAtEachWrite kills a server at each write of a resize, while the resize may hurt before the
// next server starts, and another one at each write of a revert.
func (s *suite) killedAtEachWrite(t *testing.T) {
	resizes, reverts := newCuts("resize", resizeWrites), newCuts("revert", revertWrites)
	for _, of := range []*cuts{resizes, reverts} {
		for namespace := range of.all {
			s.apply(t, (&workload{name: "app", replicas: 1, work: calm}).manifest(namespace))
		}
	}
	first := s.serve(t, localcluster.ProxyForTest(t, s.Config(), resizes.act))
	resizes.await(t)
	for namespace := range reverts.all {
		s.seen.await(t, namespace, "app", 1, "lowered", lowered)
	}
	// The API server shows a write that it has executed while the server still waits for the response.
	landed := map[string]bool{}
	for namespace, of := range resizes.all {
		if of.at > 2 || of.at == 2 && of.how == localcluster.ForwardThenHang {
			landed[namespace] = true
			s.seen.await(t, namespace, "app", 1, "lowered, recorded or not", func(c *course) bool {
				return sizesOf(c.pod) == loweredCPU+" "+loweredMemory && running(c)
			})
		}
	}
	if err := first.Kill(); err != nil {
		t.Fatal(err)
	}
	for namespace := range landed {
		s.hurt(t, namespace)
		s.seen.await(t, namespace, "app", 1, "harmed while no server runs", func(c *course) bool { return !c.harmed.IsZero() })
	}

	second := s.serve(t, localcluster.ProxyForTest(t, s.Config(), reverts.act))
	for namespace := range resizes.all {
		if !landed[namespace] {
			s.seen.await(t, namespace, "app", 1, "lowered by the second server", lowered)
			s.hurt(t, namespace)
		}
	}
	s.awaitReverted(t, resizes)
	for namespace := range reverts.all {
		s.hurt(t, namespace)
	}
	reverts.await(t)
	if err := second.Kill(); err != nil {
		t.Fatal(err)
	}

	third := s.serve(t, nil)
	s.awaitReverted(t, resizes)
	s.awaitReverted(t, reverts)
	if err := third.Stop(); err != nil {
		t.Error(err)
	}
}

// hurt lets the pod of a namespace run out of memory.
func (s *suite) hurt(t *testing.T, namespace string) {
	t.Helper()
	s.inject(t, s.seen.await(t, namespace, "app", 1, "to exist", func(*course) bool { return true }), oom)
}

// awaitReverted waits until the pod of each namespace runs with its former size, which was reverted
// once.
func (s *suite) awaitReverted(t *testing.T, in *cuts) {
	t.Helper()
	for namespace := range in.all {
		for _, c := range s.seen.await(t, namespace, "app", 1, "reverted and running", recovered) {
			if err := revertedOnce(&c); err != nil {
				t.Errorf("%s: %v", namespace, err)
			}
		}
	}
}
