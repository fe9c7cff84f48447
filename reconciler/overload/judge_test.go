package overload

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
)

var began = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

func limits(change ...func(*policy.Overload)) *policy.Overload {
	o := keys.Defaults[policy.Cluster]().Overload
	for _, c := range change {
		c(&o)
	}
	return &o
}

// fleet is nodes whose taints follow the decisions.
type fleet struct {
	judge  *Judge
	now    time.Time
	limits *policy.Overload
	nodes  []Node
	why    map[string]Why
	spared int
}

func newFleet(nodes int, change ...func(*policy.Overload)) *fleet {
	f := &fleet{judge: New(), now: began, limits: limits(change...), why: map[string]Why{}}
	for i := range nodes {
		f.nodes = append(f.nodes, Node{Name: fmt.Sprintf("n%02d", i), UID: fmt.Sprint(i), Works: true})
	}
	return f
}

// round decides once, a while after the round before.
func (f *fleet) round(after time.Duration) Decision {
	f.now = f.now.Add(after)
	d := f.judge.Decide(f.limits, f.nodes, f.now)
	for i := range f.nodes {
		n := &f.nodes[i]
		for _, v := range d.Taint {
			if v.Node == n.Name {
				n.Tainted = true
			}
		}
		for _, v := range d.Clear {
			if v.Node == n.Name {
				n.Tainted, f.why[n.Name] = false, v.Why
			}
		}
	}
	f.spared = d.Spared
	return d
}

// read sets the newest reading of a signal of a node, as of now.
func (f *fleet) read(node int, s Signal, value float64) {
	f.nodes[node].Readings[s] = Reading{value, f.now}
}

// during decides every half minute for some time. Before each round, the first node reads a value of its CPU.
func (f *fleet) during(long time.Duration, cpu float64) {
	for end := f.now.Add(long); f.now.Before(end); {
		f.now = f.now.Add(30 * time.Second)
		f.read(0, CPU, cpu)
		f.round(0)
	}
}

func (f *fleet) tainted() (names []string) {
	for i := range f.nodes {
		if f.nodes[i].Tainted {
			names = append(names, f.nodes[i].Name)
		}
	}
	return names
}

func (f *fleet) expect(t *testing.T, when string, want ...string) {
	t.Helper()
	if got := f.tainted(); !slices.Equal(got, want) {
		t.Errorf("%s: %q have the taint, want %q", when, got, want)
	}
}

func TestJudge(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"a value that is too high for as long as configured":    tooHighForAsLongAsConfigured,
		"every signal counts":                                   everySignalCounts,
		"between both limits, nothing changes":                  betweenBothLimitsNothingChanges,
		"a value that goes up and down changes nothing":         aValueThatFlapsChangesNothing,
		"what is not known is never too high":                   whatIsNotKnownIsNeverTooHigh,
		"a node of which nothing is known loses the taint":      aNodeOfWhichNothingIsKnownLosesTheTaint,
		"a reading counts once":                                 aReadingCountsOnce,
		"readings before and after a gap do not count together": readingsBeforeAndAfterAGapDoNotCountTogether,
		"clocks that go back begin again":                       clocksThatGoBackBeginAgain,
		"only nodes that work are judged":                       onlyNodesThatWorkAreJudged,
		"a new node is not the old one":                         aNewNodeIsNotTheOldOne,
		"a new leader keeps a taint until it knows more":        aNewLeaderKeepsATaint,
		"the worst nodes come first":                            theWorstNodesComeFirst,
		"a smaller share clears the mildest":                    aSmallerShareClearsTheMildest,
		"new limits count from now on":                          newLimitsCountFromNowOn,
	} {
		t.Run(name, test)
	}
}

func tooHighForAsLongAsConfigured(t *testing.T) {
	f := newFleet(1)
	f.during(5*time.Minute, 0.9)
	f.expect(t, "after 5 minutes less the first reading")
	f.during(30*time.Second, 0.95)
	f.expect(t, "after 5 minutes", "n00")
	f.during(5*time.Minute, 0.8)
	f.expect(t, "after a little less than 5 minutes of calm", "n00")
	f.during(30*time.Second, 0.8)
	f.expect(t, "after 5 minutes of calm")
	if f.why["n00"] != LowAgain {
		t.Errorf("because of %v", f.why["n00"])
	}
}

func everySignalCounts(t *testing.T) {
	for s, value := range map[Signal]float64{CPU: 0.9, Memory: 0.95, Pressure: 0.6, Load: 3} {
		for _, off := range []bool{false, true} {
			f := newFleet(1, func(o *policy.Overload) {
				if off {
					*map[Signal]*float64{CPU: &o.CPU, Memory: &o.Memory, Pressure: &o.Pressure, Load: &o.Load}[s] = 0
				}
			})
			var last Decision
			for range 11 {
				f.now = f.now.Add(30 * time.Second)
				f.read(0, s, value)
				last = f.round(0)
			}
			want := []Verdict{{Node: "n00", Signal: s, Value: value}}
			if off {
				want = nil
			}
			if diff := cmp.Diff(want, last.Taint); diff != "" {
				t.Errorf("%v, not looked at: %t: %s", s, off, diff)
			}
		}
	}
}

func betweenBothLimitsNothingChanges(t *testing.T) {
	for _, tainted := range []bool{false, true} {
		f := newFleet(1)
		f.nodes[0].Tainted = tainted
		f.during(time.Hour, 0.85)
		if f.nodes[0].Tainted != tainted {
			t.Errorf("tainted before: %t, and then not", tainted)
		}
	}
}

func aValueThatFlapsChangesNothing(t *testing.T) {
	for _, tainted := range []bool{false, true} {
		f := newFleet(1)
		f.nodes[0].Tainted = tainted
		for range 30 {
			f.during(2*time.Minute, 1)
			f.during(2*time.Minute, 0.1)
		}
		if f.nodes[0].Tainted != tainted {
			t.Errorf("tainted before: %t, and then not", tainted)
		}
	}
}

func whatIsNotKnownIsNeverTooHigh(t *testing.T) {
	for name, reading := range map[string]func(now time.Time) Reading{
		"nothing":               func(time.Time) Reading { return Reading{} },
		"without a time":        func(time.Time) Reading { return Reading{Value: 2} },
		"not a number":          func(now time.Time) Reading { return Reading{math.NaN(), now} },
		"infinite":              func(now time.Time) Reading { return Reading{math.Inf(1), now} },
		"negative":              func(now time.Time) Reading { return Reading{-2, now} },
		"old":                   func(now time.Time) Reading { return Reading{2, now.Add(-Fresh - 1)} },
		"of the future":         func(now time.Time) Reading { return Reading{2, now.Add(skew + 1)} },
		"the same all the time": func(time.Time) Reading { return Reading{2, began} },
	} {
		f := newFleet(1)
		for range 60 {
			f.now = f.now.Add(30 * time.Second)
			f.nodes[0].Readings[CPU] = reading(f.now)
			f.round(0)
		}
		f.expect(t, name)
	}
}

func aNodeOfWhichNothingIsKnownLosesTheTaint(t *testing.T) {
	f := newFleet(1)
	f.during(6*time.Minute, 1)
	for f.now.Before(began.Add(6*time.Minute + Fresh + Forget)) {
		f.round(30 * time.Second)
		f.expect(t, "while that is not known for long", "n00")
	}
	f.round(30 * time.Second)
	f.expect(t, "after that")
	if f.why["n00"] != NotKnown {
		t.Errorf("because of %v", f.why["n00"])
	}
}

func aReadingCountsOnce(t *testing.T) {
	f := newFleet(1, func(o *policy.Overload) { o.For = time.Minute })
	f.read(0, CPU, 2)
	for range 7 {
		f.round(20 * time.Second)
	}
	f.expect(t, "after many rounds with one reading")
}

func readingsBeforeAndAfterAGapDoNotCountTogether(t *testing.T) {
	f := newFleet(1)
	f.during(4*time.Minute, 1)
	f.round(Fresh + time.Second)
	f.during(4*time.Minute, 1)
	f.expect(t, "8 minutes in two parts")
	f.during(2*time.Minute, 1)
	f.expect(t, "another 2 minutes", "n00")
}

func clocksThatGoBackBeginAgain(t *testing.T) {
	t.Run("of this process", func(t *testing.T) {
		f := newFleet(1)
		f.during(5*time.Minute, 1)
		f.now = f.now.Add(-time.Hour)
		f.during(5*time.Minute, 1)
		f.expect(t, "5 minutes on each clock")
		f.during(time.Minute, 1)
		f.expect(t, "another minute", "n00")
		for i := range f.nodes {
			f.nodes[i].Readings = Readings{}
		}
		f.round(Fresh + time.Second)
		f.round(-time.Hour)
		f.round(time.Minute)
		f.expect(t, "a minute without readings", "n00")
	})
	t.Run("of the node", func(t *testing.T) {
		f := newFleet(1)
		f.during(5*time.Minute, 1)
		f.now = f.now.Add(30 * time.Second)
		f.nodes[0].Readings[CPU] = Reading{1, f.now.Add(-2 * time.Minute)}
		f.round(0)
		f.expect(t, "a reading of an earlier time")
	})
}

func onlyNodesThatWorkAreJudged(t *testing.T) {
	f := newFleet(1)
	f.nodes[0].Works = false
	f.during(time.Hour, 1)
	f.expect(t, "a node that does not work")
	f.nodes[0].Works = true
	f.during(6*time.Minute, 1)
	f.expect(t, "when it works", "n00")
	f.nodes[0].Works = false
	f.during(9*time.Minute, 1)
	f.expect(t, "not for long", "n00")
	f.during(2*time.Minute, 1)
	f.expect(t, "for long")
}

func aNewNodeIsNotTheOldOne(t *testing.T) {
	f := newFleet(1)
	f.during(5*time.Minute, 1)
	f.nodes[0].UID = "new"
	f.during(time.Minute, 1)
	f.expect(t, "a node with the same name")
}

func aNewLeaderKeepsATaint(t *testing.T) {
	f := newFleet(1)
	f.nodes[0].Tainted = true
	f.during(time.Hour, 1)
	f.expect(t, "too high all the time", "n00")
	f.judge = New()
	f.during(5*time.Minute, 0)
	f.expect(t, "before it has seen enough", "n00")
	f.during(time.Minute, 0)
	f.expect(t, "low")
}

func theWorstNodesComeFirst(t *testing.T) {
	f := newFleet(10)
	for range 11 {
		f.now = f.now.Add(30 * time.Second)
		for i := range f.nodes {
			f.read(i, Load, 3+float64(i%7)) // n06 is the worst, then n05.
		}
		f.round(0)
	}
	f.expect(t, "of 10 nodes", "n05", "n06")
	if f.spared != 8 {
		t.Errorf("%d are spared", f.spared)
	}
	for share, want := range map[float64]int{0.01: 1, 0.29: 29, 0.999: 99, 1: 100} {
		if got := Most(share, 100); got != want {
			t.Errorf("%v of 100 nodes are %d, want %d", share, got, want)
		}
	}
	if Most(1, 0) != 0 || Most(0.2, 1) != 1 {
		t.Error("at least one, if there is any")
	}
}

func aSmallerShareClearsTheMildest(t *testing.T) {
	f := newFleet(10, func(o *policy.Overload) { o.MaxShare = 0.5 })
	step := func() {
		f.now = f.now.Add(30 * time.Second)
		for i := range 5 {
			f.read(i, Load, 9-float64(i))
		}
		f.round(0)
	}
	for range 11 {
		step()
	}
	f.expect(t, "of 10 nodes", "n00", "n01", "n02", "n03", "n04")
	f.limits = limits()
	step()
	f.expect(t, "with a smaller share", "n00", "n01")
	if f.why["n03"] != TooMany {
		t.Errorf("because of %v", f.why["n03"])
	}
	f.nodes[5].Works, f.nodes[6].Works, f.nodes[0].Works = false, false, false
	step()
	f.expect(t, "with fewer nodes", "n00", "n01")
	f.nodes[0].Works = true
	step()
	f.expect(t, "with one node of 8", "n00")
}

func newLimitsCountFromNowOn(t *testing.T) {
	f := newFleet(1, func(o *policy.Overload) { o.CPU = 0.5 })
	f.nodes[0].Readings[CPU] = Reading{}
	f.during(5*time.Minute, 0.95)
	f.limits = limits()
	f.during(5*time.Minute, 0.95)
	f.expect(t, "5 minutes above each limit")
	f.during(time.Minute, 0.95)
	f.expect(t, "another minute", "n00")
}

func TestForbids(t *testing.T) {
	for _, tc := range []struct {
		effect      string
		nodes, want int
	}{{"PreferNoSchedule", 1, 1}, {"NoSchedule", 1, 0}, {"NoSchedule", 3, 2}} {
		f := newFleet(tc.nodes, func(o *policy.Overload) { o.Effect, o.MaxShare = tc.effect, 1 })
		for range 20 {
			for i := range f.nodes {
				f.nodes[i].Readings[CPU] = Reading{Value: 0.99, At: f.now}
			}
			f.round(30 * time.Second)
		}
		tainted := 0
		for i := range f.nodes {
			if f.nodes[i].Tainted {
				tainted++
			}
		}
		if tainted != tc.want {
			t.Errorf("%d of %d nodes have the taint with %s, want %d", tainted, tc.nodes, tc.effect, tc.want)
		}
	}
}
