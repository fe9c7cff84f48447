package usage

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// crowd measures a leader among 20 followers, which use a quarter of its memory.
func crowd(f *fixture, at time.Time) {
	f.now = at
	var samples []Sample
	for i := range 21 {
		name := fmt.Sprint("web-", i)
		f.known["shop/"+name] = Identity{Workload: web.Workload, Pod: history.Pod{UID: name, NodeType: "n2d"}}
		s := cpu(at, 100)
		s.Name = name
		samples = append(samples, s)
		if s.Resource, s.Usage = history.Memory, 250<<20; i == 0 {
			s.Usage = 1 << 30
		}
		samples = append(samples, s)
	}
	f.collect(Collected{Counted: len(samples)}, samples...)
}

func TestPeak(t *testing.T) {
	t.Run("of one replica among many is known, though percentiles do not show it", func(t *testing.T) {
		f := newFixture(t)
		for day := range 3 {
			crowd(f, began.Add(time.Duration(day)*24*time.Hour))
		}
		table := f.Publish(uniform, f.now)
		r, _ := table.Demand(Key{key, "all"})
		if r.Target.Memory > 400<<20 {
			t.Errorf("%d bytes are recommended for all", r.Target.Memory)
		}
		if got := table.Peak(key, "web-0"); got < 1<<30 || got > 1<<30+2<<20 {
			t.Errorf("%d bytes of the leader", got)
		}
		if got := table.Peak(key, "web-1"); got > r.Target.Memory {
			t.Errorf("%d bytes of a follower, and %d are recommended", got, r.Target.Memory)
		}
		f.Ended(web.Workload, "main", "web-0")
		next := f.Publish(uniform, f.now)
		if got := next.Peak(key, "web-0"); got != 0 {
			t.Errorf("%d bytes of a pod that has ended", got)
		}
		if fell := next.Fell(table); len(fell) != 1 || fell[0] != key {
			t.Errorf("fell: %v", fell)
		}
		if fell := table.Fell(next); fell != nil {
			t.Errorf("fell: %v", fell)
		}
	})
	t.Run("counts from the least share of what any set of ratios needs", func(t *testing.T) {
		speed := func(of float64) recommend.Speeds {
			return func(nodeType string) (recommend.Speed, bool) {
				return recommend.Speed{CPU: 1, Memory: of}, nodeType == "n2d"
			}
		}
		l := least{{speed(1), 1000}, {speed(2), 1500}, {speed(0), 1}}
		if got := l.on("n2d"); got != 600 {
			t.Errorf("%d on a n2d", got)
		}
		if got := l.on("n4"); got != math.MaxInt64 {
			t.Errorf("%d on a node of unknown speed", got)
		}
	})
}
