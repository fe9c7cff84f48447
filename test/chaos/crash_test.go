package chaos

import (
	"context"
	"errors"
	"fmt"
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
	// rounds is the number of processes that run one after another. After every
	// checkEvery of them, one may finish its work.
	rounds, shortRounds, checkEvery = 500, 50, 25
	// mixedPods is the number of pods of all shapes.
	mixedPods = 50
)

// killedAtRandomWrites kills one process after another while some of their calls fail,
// users make changes, and other actors resize pods. The sizes that the last process
// gives to the pods must follow from the originals.
func (s *suite) killedAtRandomWrites(t *testing.T) {
	n := *roundsFlag
	if testing.Short() {
		n = shortRounds
	}
	s.killedRandomly(t, n, *faultsFlag)
}

// killedRandomly kills processes for n rounds, and for more rounds until that many calls
// have failed.
func (s *suite) killedRandomly(t *testing.T, n, faults int) {
	r := random(t)
	w := newWorld(t, s.config, randomTable(r), "n2d", "n4", "c3")
	c := crashes{world: w, ledger: w.keepLedger(t), ctx: t.Context(), killed: map[string]int{}}
	d := newDice(r)
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
			reads, writes, most = failing, failing, 600 // A process that lives longer fails more often.
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
	c.check(t, "at the end")
	of := c.ledger.counts
	t.Logf("%d rounds: killed at %v, ended with nothing left to do %d times; of %d calls, %d failed", round-1, c.killed, c.quiet, d.requests, d.failures())
	t.Logf("of %d pod states, other actors resized %d, %d were restored, %d adopted; %d pods were checked", of.states, of.resized, of.restored, of.adopted, of.checked)
	for _, step := range []string{"originals", "resize", "applied"} {
		if n >= rounds && c.killed[step] == 0 {
			t.Errorf("never killed at step %s", step)
		}
	}
	if n >= rounds && min(of.resized, of.restored, of.adopted) == 0 {
		t.Error("no resize by another actor, no restore or no adoption happened")
	}
}

// crashes are processes that run one after another.
type crashes struct {
	*world
	ledger *ledger
	// ctx ends with the test.
	ctx context.Context
	// killed counts kills by the step of the last write.
	killed map[string]int
	// quiet counts the processes that had nothing left to write.
	quiet int
	// bequest sends the write of the last process that is still in flight.
	bequest func()
}

// live runs a process until it is killed or all pods are right. It calls meanwhile after
// the process has started.
func (c *crashes) live(t *testing.T, m *mortal, reads, writes *rest.Config, meanwhile func()) {
	t.Helper()
	m.dead, m.heir = make(chan struct{}), c.bequest
	life := c.start(t, reads, m.wrap(writes))
	meanwhile()
	if err := c.awaitQuietOrDeath(t, m); err != nil {
		t.Errorf("a process neither finished nor was killed: %v", err)
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

// allSettled accounts for everything that has happened, and returns an error unless all
// pods are settled.
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

// check lets a process finish its work, and then starts others until one finds nothing to
// do, which must be soon.
func (c *crashes) check(t *testing.T, when string) {
	t.Helper()
	c.holds.releaseAll(hold.Pause)
	c.nextLife()
	life := c.start(t, c.config, c.config)
	if c.bequest != nil {
		c.bequest()
		c.bequest = nil
	}
	c.awaitAllSettled(t, when)
	life.stop(t)

	// Settled pods may still lack annotations.
	var wrote [][]string
	for len(wrote) < 4 {
		next := c.goThroughAll(t, when)
		if len(next) == 0 {
			break
		}
		wrote = append(wrote, next)
	}
	if len(wrote) == 4 {
		t.Errorf("%s, processes always find something to write: %v", when, wrote)
		for _, key := range c.keys() {
			if path := fmt.Sprintf("/namespaces/%s/pods/%s", key.Namespace, key.Name); slices.ContainsFunc(wrote[3], func(w string) bool { return strings.Contains(w, path) }) {
				t.Logf("%s: %s", key, c.circumstances(key, c.pod(key)))
			}
		}
	}
	c.awaitAllSettled(t, when+" and with no process left") // The last write may not be seen yet.
}

// goThroughAll lets another process plan and write all pods, and returns its writes. If
// there are none, it checks what the process reports that it cannot restore.
func (c *crashes) goThroughAll(t *testing.T, when string) (wrote []string) {
	t.Helper()
	m := &mortal{left: -1}
	life := c.start(t, c.config, m.wrap(c.config))
	localcluster.Eventually(t, "all pods to be planned "+when, func() error {
		if life.planned(t) < len(c.created) || life.gauge(t, "workload_resizer_queue_depth") > 0 {
			return errors.New("not all pods are planned")
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
	c.awaitAllSettled(t, when+" and accounted for")
	for _, key := range c.keys() {
		if err := c.named(life, key); err != nil {
			t.Error(err)
		}
		c.ledger.counts.checked++
	}
	return nil
}

// awaitAllSettled waits until a process has done everything that it can.
func (c *crashes) awaitAllSettled(t *testing.T, when string) {
	t.Helper()
	localcluster.Eventually(t, "all pods to be right "+when, func() error { return c.allSettled(t) })
}
