package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

const (
	// rounds is how many processes live one after the other, and checkEvery
	// after how many one may finish its work.
	rounds, shortRounds, checkEvery = 500, 50, 25
	// mixedPods is how many pods of all shapes there are.
	mixedPods = 50
)

// killedAtRandomWrites kills process after process, while calls of some of them fail, people
// change what they want, and others resize pods: what the last one makes of the pods follows from
// the originals.
func (s *suite) killedAtRandomWrites(t *testing.T) {
	n := *roundsFlag
	if testing.Short() {
		n = shortRounds
	}
	s.killedRandomly(t, n, *faultsFlag)
}

// killedRandomly kills processes for so many rounds, and for more until so many calls
// have failed.
func (s *suite) killedRandomly(t *testing.T, n, faults int) {
	r := random(t)
	w := newWorld(t, s.config, randomTable(r), "n2d", "n4", "c3")
	c := crashes{world: w, ledger: w.keepLedger(t), ctx: t.Context(), killed: map[string]int{}}
	d := &dice{random: rand.New(rand.NewPCG(r.Uint64(), 0)), failed: map[string]int{}}
	proxy := localcluster.ProxyForTest(t, s.config, d.onWrite)
	proxy.Interfere(d.onOther)
	failing := s.through(proxy)
	w.createMixed(t, mixedPods, plain, shared, shared)
	round := 1
	for ; (round <= n || d.failures() < faults) && !t.Failed(); round++ {
		w.external = plan.Externals[r.IntN(len(plan.Externals))]
		w.nextLife()
		c.change(t, r)
		reads, writes, most := c.config, c.config, 60
		if r.IntN(8) == 0 {
			reads, writes = failing, failing
		}
		if n < round {
			reads, writes, most = failing, failing, 600 // What lives for longer fails more often.
		}
		m := &mortal{left: 1 + r.IntN(1+r.IntN(most)), heirIn: r.IntN(10), fate: fate(r.IntN(3))}
		c.live(t, m, reads, writes, func() {
			if r.IntN(2) == 0 {
				c.change(t, r)
			}
		})
		if round%checkEvery == 0 {
			c.check(t, fmt.Sprintf("after round %d", round))
		}
	}
	c.check(t, "in the end")
	of := c.ledger.counts
	t.Logf("%d rounds: killed at %v, ended in quiet %d times; of %d calls %d failed", round-1, c.killed, c.quiet, d.requests, d.failures())
	t.Logf("of %d states of pods, others resized %d, %d were restored, %d adopted; %d pods were checked", of.states, of.resized, of.restored, of.adopted, of.checked)
	for _, step := range []string{"originals", "resize", "applied"} {
		if n >= rounds && c.killed[step] == 0 {
			t.Errorf("never killed at step %s", step)
		}
	}
	if n >= rounds && min(of.resized, of.restored, of.adopted) == 0 {
		t.Error("something of that never happened")
	}
}

// crashes are processes that live one after the other.
type crashes struct {
	*world
	ledger *ledger
	// ctx ends with the test.
	ctx context.Context
	// killed counts deaths by the step of the last write.
	killed map[string]int
	// quiet counts the processes that had nothing left to write.
	quiet int
	// life is the process that lives, or did last.
	life *incarnation
	// bequest is the write of the last process that is still on its way.
	bequest func()
}

// live runs a process until it is killed, or all pods are right. meanwhile is
// called when it has been started.
func (c *crashes) live(t *testing.T, m *mortal, reads, writes *rest.Config, meanwhile func()) {
	t.Helper()
	m.dead, m.heir = make(chan struct{}), c.bequest
	life := c.start(t, reads, m.wrap(writes))
	c.life = life
	meanwhile()
	if err := c.awaitQuietOrDeath(t, m); err != nil {
		t.Errorf("a process neither got done nor was killed: %v", err)
	}
	life.stop(t)
	if m.heir != nil {
		m.heir()
	}
	c.ledger.settle(t, c.world)
	if c.bequest = m.bequest; m.left == 0 {
		c.killed[m.wrote[len(m.wrote)-1]]++
	} else {
		c.quiet++
	}
}

func (c *crashes) awaitQuietOrDeath(t *testing.T, m *mortal) error {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(localcluster.Patience)
	for {
		select {
		case <-m.dead:
			return nil
		case <-tick.C:
			if c.allSettled(t) == nil {
				return nil
			}
		case <-deadline:
			return c.allSettled(t)
		}
	}
}

// allSettled accounts for what has happened, and tells whether all pods are settled.
func (c *crashes) allSettled(t *testing.T) error {
	t.Helper()
	c.ledger.settle(t, c.world)
	for _, key := range c.keys() {
		if err := c.settled(key); err != nil {
			return err
		}
	}
	return nil
}

// check lets a process finish its work, and then others, of which one must soon find
// nothing to do.
func (c *crashes) check(t *testing.T, when string) {
	t.Helper()
	c.holds.releaseAll(hold.Pause)
	c.nextLife()
	life := c.start(t, c.config, c.config)
	c.life = life
	if c.bequest != nil {
		c.bequest()
		c.bequest = nil
	}
	c.awaitAllSettled(t, when)
	life.stop(t)

	// What is settled may still be to be recorded.
	var wrote [][]string
	for len(wrote) < 4 {
		next := c.goThroughAll(t, when)
		if len(next) == 0 {
			break
		}
		wrote = append(wrote, next)
	}
	if len(wrote) == 4 {
		t.Errorf("%s, processes find something to write for ever: %v", when, wrote)
		for _, key := range c.keys() {
			if path := fmt.Sprintf("/namespaces/%s/pods/%s", key.Namespace, key.Name); slices.ContainsFunc(wrote[3], func(w string) bool { return strings.Contains(w, path) }) {
				t.Logf("%s: %s", key, c.circumstances(key, c.pod(key)))
			}
		}
	}
	c.awaitAllSettled(t, when+" and with no process left") // What was written last may not be seen yet.
}

// goThroughAll has another process plan all pods and do what they want, and returns what
// it has written. If that is nothing, it asks it for what it could not give back.
func (c *crashes) goThroughAll(t *testing.T, when string) (wrote []string) {
	t.Helper()
	m := &mortal{left: -1}
	life := c.start(t, c.config, m.wrap(c.config))
	localcluster.Eventually(t, "all pods to be planned "+when, func() error {
		if life.planned(t) < len(c.created) || life.gauge(t, "workload_resizer_queue_depth") > 0 {
			return errors.New("they are not")
		}
		return nil
	})
	life.stop(t)
	if len(m.wrote) > 0 {
		for i, step := range m.wrote {
			wrote = append(wrote, step+" "+m.paths[i])
		}
		return wrote
	}
	c.awaitAllSettled(t, when+" and all of it accounted for")
	for _, key := range c.keys() {
		if err := c.named(life, key); err != nil {
			t.Error(err)
		}
		c.ledger.counts.checked++
	}
	return nil
}

// awaitAllSettled waits until a process has done all that it can.
func (c *crashes) awaitAllSettled(t *testing.T, when string) {
	t.Helper()
	localcluster.Eventually(t, "all pods to be right "+when, func() error { return c.allSettled(t) })
}
