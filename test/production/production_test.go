package production

import (
	"flag"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/test/production/truth"
)

var (
	hoursFlag     = flag.Int("hours", 12, "number of simulated hours")
	workloadsFlag = flag.Int("workloads", 10, "number of workloads")
	eachFlag      = flag.Int("each", 2, "number of pods of each workload on nodes of each type")
	nodesFlag     = flag.Int("nodes", 3, "number of nodes of each type")
	killsFlag     = flag.Int("kills", 1, "how often the leader is killed, on average in a day")
	seedFlag      = flag.Uint64("seed", 1, "which workloads and nodes there are")
)

const (
	// shows is after how many hours of evidence the server must show ratios, which are preliminary until it knows them, and certain after how
	// many the true ones must be in effect. While it shows none, it must say why.
	shows, knows, certain = 26, 120, 240
	// near is how far ratios may be from the truth, and nearly the same of the first ones. How pods differ lasts for hours: in such worlds, a day shows
	// four of five ratios within 2%, and one of 20 is off by more than 3%.
	near, nearly = 0.02, 0.04
	// step is by how much a ratio in effect may move in an hour.
	step = 0.1001
)

// byHand are the ratios that somebody has written, in the order of the types: first none, and then wrong ones.
var byHand = [2][]float64{{1, 1, 1}, {1, 1.1, 1.2}}

// TestProduction runs the world: first without ratios, then with wrong ones, and at last with those that production shows.
func TestProduction(t *testing.T) {
	s := truth.Defaults()
	s.Seed, s.Count, s.Each, s.Nodes = *seedFlag, *workloadsFlag, *eachFlag, *nodesFlag
	of := truth.New(s)
	w := newWorld(t, of)
	w.configure(t, "observe", byHand[0]...)
	// Days begin at midnight.
	w.begin(t, time.Now().UTC().Add(24*time.Hour).Truncate(24*time.Hour))
	w.AwaitCollector(t, w.Began.Add(length))
	f := newFigures(of)
	hours := *hoursFlag
	leaves := fmt.Sprintf("%s-%d", of.Types[len(of.Types)-1].Name, of.Nodes-1)
	for hour := range hours {
		switch hour {
		case hours / 2:
			w.configure(t, "observe", byHand[1]...)
		case hours - hours/6:
			w.configure(t, "apply", byHand[1]...)
			f.applies = true
		}
		switch hour {
		case hours / 4:
			w.removeNode(t, leaves)
		case hours * 3 / 8:
			w.rollOut(t, 1)
		case hours * 5 / 8:
			w.addNode(t, leaves)
		case hours * 11 / 16:
			w.rollOut(t, 2)
		}
		killAt := killAt(hour)
		for i := range int(time.Hour / length) {
			to := w.Began.Add(time.Duration(hour)*time.Hour + time.Duration(i+1)*length)
			if i == killAt {
				w.KillLeader(t, to)
				f.killed = true
			}
			w.Move(t, to)
			w.AwaitCollector(t, to.Add(length)) // On a busy machine, a leader may lose its lease.
			w.measure(t)
			w.settle()
			if t.Failed() {
				return
			}
		}
		f.note(w.shows(t.Context(), t))
		if (hour+1)%24 == 0 || hour == hours-1 {
			t.Logf("after %d hours (%v): %s", hour+1, time.Since(f.began).Round(time.Second), f)
		}
	}
	f.judge(t)
	w.whole(t)
	t.Logf("%d pods on %d nodes, %d hours in %v: %+v; %s", w.pods(), len(of.Types)*of.Nodes, hours, time.Since(f.began).Round(time.Second), w.Tally, w.seen.Tally())
	for _, fault := range w.Tally.Faults {
		t.Error(fault)
	}
}

// killAt returns in which step of an hour the leader is killed, at different times of each day; −1 if it is not.
func killAt(hour int) int {
	if *killsFlag <= 0 {
		return -1
	}
	if every := max(24 / *killsFlag, 1); hour%every == (5+7*(hour/24))%every {
		return 5 + hour%7
	}
	return -1
}

// whole checks that no container has restarted, and that pods on types with a ratio have been resized.
func (w *world) whole(t *testing.T) {
	t.Helper()
	fast, resized := 0, 0
	for _, c := range w.seen.All() {
		if c.Pod.Status.ContainerStatuses[0].RestartCount != 0 {
			t.Errorf("pod %s has restarted", c.Pod.Name)
		}
		if c.Class != c.Pod.Status.QOSClass {
			t.Errorf("pod %s was %s, and is %s", c.Pod.Name, c.Class, c.Pod.Status.QOSClass)
		}
		if w.placeOf(t, c.Pod).pod.Type == w.truth.Types[0].Name {
			continue
		}
		fast++
		if c.Sized() {
			resized++
		}
	}
	if share := float64(resized) / math.Max(float64(fast), 1); share < 0.9 {
		t.Errorf("of %d pods on faster nodes, only %d were resized", fast, resized)
	}
}
