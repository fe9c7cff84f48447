package chaos

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

const (
	// rounds is how many processes live one after the other, and checkEvery
	// after how many one may finish its work.
	rounds, shortRounds, checkEvery = 500, 50, 25
	// mixedPods is how many pods of all shapes there are.
	mixedPods = 50
)

// killedAtRandomWrites kills process after process, while people change what
// they want: what the last one makes of the pods follows from the originals.
func (s *suite) killedAtRandomWrites(t *testing.T) {
	n := rounds
	if testing.Short() {
		n = shortRounds
	}
	s.killedRandomly(t, n)
}

func (s *suite) killedRandomly(t *testing.T, n int) {
	r := random(t)
	w := newWorld(t, s.config, randomTable(r), "n2d", "n4", "c3")
	w.createMixed(t, mixedPods, plain, held, edited)
	c := crashes{world: w, killed: map[string]int{}}
	for round := 1; round <= n && !t.Failed(); round++ {
		w.change(t, r)
		m := &mortal{left: 1 + r.IntN(1+r.IntN(60)), heirIn: r.IntN(10), fate: fate(r.IntN(3))}
		c.live(t, m, func() {
			if r.IntN(2) == 0 {
				w.change(t, r)
			}
		})
		if round%checkEvery == 0 {
			c.check(t, fmt.Sprintf("after round %d", round))
		}
	}
	t.Logf("killed at %v, ended in quiet %d times", c.killed, c.quiet)
	for _, step := range []string{"originals", "resize", "applied"} {
		if n == rounds && c.killed[step] == 0 {
			t.Errorf("never killed at step %s", step)
		}
	}
}

// crashes are processes that live one after the other.
type crashes struct {
	*world
	// killed counts deaths by the step of the last write.
	killed map[string]int
	// quiet counts the processes that had nothing left to write.
	quiet int
	// bequest is the write of the last process that is still on its way.
	bequest func()
}

// live runs a process until it is killed, or all pods are right. meanwhile is
// called when it has been started.
func (c *crashes) live(t *testing.T, m *mortal, meanwhile func()) {
	t.Helper()
	m.dead, m.heir = make(chan struct{}), c.bequest
	life := c.start(t, c.config, m.wrap(c.config))
	meanwhile()
	if err := c.awaitRightOrDeath(m); err != nil {
		t.Errorf("a process neither got done nor was killed: %v", err)
	}
	life.stop(t)
	if m.heir != nil {
		m.heir()
	}
	if c.bequest = m.bequest; m.left == 0 {
		c.killed[m.wrote[len(m.wrote)-1]]++
	} else {
		c.quiet++
	}
}

func (c *crashes) awaitRightOrDeath(m *mortal) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(localcluster.Patience)
	for {
		select {
		case <-m.dead:
			return nil
		case <-tick.C:
			if c.allRight() == nil {
				return nil
			}
		case <-deadline:
			return c.allRight()
		}
	}
}

// check lets a process finish its work, and then another one, which must find
// nothing to do.
func (c *crashes) check(t *testing.T, when string) {
	t.Helper()
	for _, namespace := range []string{plain, held, edited} {
		scope := hold.Scope{Namespace: namespace}
		if h, _ := c.holds.table().Of(namespace, "", ""); h.Kind == hold.Pause {
			c.holds.release(scope)
		}
	}
	life := c.start(t, c.config, c.config)
	if c.bequest != nil {
		c.bequest()
		c.bequest = nil
	}
	c.awaitAllRight(t, when)
	life.stop(t)

	idle := &mortal{left: -1}
	life = c.start(t, c.config, idle.wrap(c.config))
	localcluster.Eventually(t, "all pods to be planned "+when, func() error {
		if life.planned(t) < len(c.created) {
			return errors.New("they are not")
		}
		return nil
	})
	life.stop(t)
	if len(idle.wrote) > 0 {
		t.Errorf("%s, with all pods right, another process wrote %v", when, idle.wrote)
	}
	if err := c.allRight(); err != nil {
		t.Errorf("%s, all pods were right, and now %v", when, err)
	}
}
