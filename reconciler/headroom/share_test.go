package headroom

import (
	"fmt"
	"math"
	"testing"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

const gib = 1 << 30

// cpu is the demand of a container of which only CPU matters.
func cpu(steady, peak int64) Demand {
	return Demand{Steady: Amounts{steady, gib}, Peak: Amounts{peak, gib}}
}

// alone is a pod of a workload of its own.
func alone(n int, containers ...Demand) *Pod {
	return &Pod{Workload: fmt.Sprint("w", n), Containers: containers}
}

// both is a rule for both resources.
func both(r Rule) Rules { return Rules{r, r} }

// of returns the share of one node with pods.
func of(t *testing.T, rules Rules, n Node, pods ...*Pod) *Share {
	t.Helper()
	table := NewTable(rules)
	table.SetNode("n", n)
	for i, p := range pods {
		table.SetPod(fmt.Sprint(i), "n", p)
	}
	all, different := table.Publish()
	if len(different) != 1 || len(all.nodes) != 1 {
		t.Fatalf("%v differ, of %d", different, len(all.nodes))
	}
	return all.Of("n")
}

func TestShare(t *testing.T) {
	has := Node{Allocatable: Amounts{16_000, 64 * gib}}
	replicas := func(n int, d Demand) (pods []*Pod) {
		for range n {
			pods = append(pods, &Pod{Workload: "web", Containers: []Demand{d}})
		}
		return pods
	}
	unlike := func(n int, d Demand) (pods []*Pod) {
		for i := range n {
			pods = append(pods, alone(i, d))
		}
		return pods
	}
	for _, test := range []struct {
		name string
		pods []*Pod
		node Node
		// available, largest and independent are of CPU; lacks is with the larger one of both.
		available            int64
		largest, independent float64
		lacks                int64
	}{
		{"a node without pods", nil, has, 16_000, 0, 0, 0},
		{"flat usage has no rests", unlike(4, cpu(500, 500)), has, 16_000, 0, 0, 0},
		{"a peak below the steady demand is no rest", unlike(4, cpu(500, 100)), has, 16_000, 0, 0, 0},
		{"one pod alone gets its peak", unlike(1, cpu(500, 1500)), has, 16_000, 1, 1, 0},
		{"a pod with a rest next to flat ones gets its peak", append(unlike(3, cpu(500, 500)), alone(9, cpu(100, 300))), has, 16_000, 1, 1, 0},
		{"the containers of one pod have their peaks together", []*Pod{alone(0, cpu(100, 300), cpu(100, 400))}, has, 16_000, 1, 1, 0},
		{"four like workloads", unlike(4, cpu(500, 1500)), has, 16_000, 0.25, 0.5, 0},
		{"replicas of one workload have their peaks together", replicas(4, cpu(500, 1500)), has, 16_000, 0.25, 1, 0},
		{"two replicas and two others", append(replicas(2, cpu(0, 1000)), unlike(2, cpu(0, 1000))...), has, 16_000, 0.25, math.Sqrt(6) / 4, 0},
		{"a pod of a DaemonSet is a workload on its node", append(unlike(3, cpu(500, 1500)), &Pod{Workload: "daemonset/log", Containers: []Demand{cpu(500, 1500)}}), has, 16_000, 0.25, 0.5, 0},
		{"an excluded or held pod takes room and shares nothing", append(unlike(4, cpu(500, 1500)), &Pod{Workload: "held", Unmanaged: Amounts{3000, 0}}), has, 13_000, 0.25, 0.5, 0},
		{"an excluded container takes room", []*Pod{{Workload: "a", Containers: []Demand{cpu(500, 1500)}, Unmanaged: Amounts{250, 0}}}, has, 15_750, 1, 1, 0},
		{"a neighbor without a sensible request takes nothing", append(unlike(1, cpu(500, 1500)), &Pod{Unmanaged: Amounts{-5000, -1}}), has, 16_000, 1, 1, 0},
		{"neighbors that request more than the node has", append(unlike(1, cpu(500, 1500)), &Pod{Unmanaged: Amounts{17_000, 0}}), has, -1000, 1, 1, 2500},
		{"a node that has shrunk", unlike(4, cpu(500, 1500)), Node{Allocatable: Amounts{2000, 64 * gib}}, 2000, 0.25, 0.5, 2000},
		{"a node of which nothing is known", unlike(4, cpu(500, 1500)), Node{}, 0, 0.25, 0.5, 4000},
		{"a node with nonsense", unlike(4, cpu(500, 1500)), Node{Allocatable: Amounts{-7, -7}, Free: [2]float64{math.NaN(), math.Inf(1)}}, 0, 0.25, 0.5, 4000},
		{"a tenth that is kept free", unlike(4, cpu(500, 1500)), Node{Allocatable: Amounts{16_000, 64 * gib}, Free: [2]float64{0.1, 0.1}}, 14_400, 0.25, 0.5, 0},
		{"nothing is kept free of what is not shared", unlike(4, cpu(500, 500)), Node{Allocatable: Amounts{16_000, 64 * gib}, Free: [2]float64{0.1, 0.1}}, 16_000, 0, 0, 0},
		{"500 pods", unlike(500, cpu(10, 30)), has, 16_000, 0.002, 448.0 / 10_000, 0},
		{"samples below zero", unlike(4, cpu(-500, -100)), has, 16_000, 0, 0, 0},
		{"a steady demand below zero", unlike(4, cpu(-500, 1000)), has, 16_000, 0.25, 0.5, 0},
		{"numbers that are none", unlike(2, NewDemand([2]float64{math.NaN(), -1}, [2]float64{math.NaN(), math.Inf(-1)})), has, 16_000, 0, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			largest, independent := of(t, Rules{}, test.node, test.pods...), of(t, both(Rule{Reserve: Independent}), test.node, test.pods...)
			if largest.Available[0] != test.available || largest.Of[0] != test.largest || math.Abs(independent.Of[0]-test.independent) > 1e-3 {
				t.Errorf("available %d, largest %v, independent %v", largest.Available[0], largest.Of[0], independent.Of[0])
			}
			if lacks := max(largest.Lacks()[0], independent.Lacks()[0]); lacks != test.lacks {
				t.Errorf("lacks %d", lacks)
			}
			if largest.Of[1] != 0 {
				t.Errorf("memory has no rests, but a share of %v", largest.Of[1])
			}
		})
	}
	t.Run("numbers that cannot be amounts are none, and too large ones the most", func(t *testing.T) {
		if got := NewDemand([2]float64{0.2, math.NaN()}, [2]float64{math.Inf(1), 1e30}); got != (Demand{Steady: Amounts{1, 0}, Peak: Amounts{sizing.CPU.Most, sizing.Memory.Most}}) {
			t.Errorf("%+v", got)
		}
		most := NewDemand([2]float64{}, [2]float64{math.Inf(1), math.Inf(1)})
		if got := of(t, both(Rule{Reserve: Independent}), has, alone(0, most, most), alone(1, most, most), alone(2, most, most)); !(got.Of[0] > 0 && got.Of[0] <= 1 && got.Of[1] > 0 && got.Of[1] <= 1) {
			t.Errorf("%+v", got)
		}
	})
	t.Run("what pods use of a node counts against all that it has for them, and moves no share", func(t *testing.T) {
		using := func(uses int64) *Share {
			pod := alone(0, Demand{Steady: Amounts{100, 300}, Peak: Amounts{200, 400}, Uses: Amounts{0, uses}})
			free := Node{Allocatable: Amounts{1000, 1000}, Free: [2]float64{0, 0.1}}
			return of(t, both(Rule{Reserve: Largest}), free, pod, alone(1, Demand{Steady: Amounts{100, 300}, Peak: Amounts{200, 400}}), &Pod{Unmanaged: Amounts{0, 200}})
		}
		for uses, want := range map[int64]int64{-1: 0, 0: 0, 701: 0, 800: 0, 801: 1, 1200: 400, math.MaxInt64: sizing.Memory.Most - 800} {
			got := using(uses)
			if over := got.Over(sizing.Memory); over != want || got.Over(sizing.CPU) != 0 || got.Lacks() != (Amounts{}) || got.Of != using(0).Of {
				t.Errorf("%d used: %d too much, want %d; it lacks %v; shares %v, want %v", uses, over, want, got.Lacks(), got.Of, using(0).Of)
			}
		}
	})
	t.Run("unlike nodes have demands in their own units", func(t *testing.T) {
		slow, fast := cpu(500, 1501), cpu(250, 751)
		a, b := of(t, Rules{}, has, alone(0, slow), alone(1, slow)), of(t, Rules{}, has, alone(0, fast), alone(1, fast))
		if a.Of != b.Of || b.Steady[0] != 500 || b.Reserve[0] != 501 {
			t.Errorf("%+v, %+v", a, b)
		}
		if got := slow.Size(a.Of); got != (Amounts{1001, gib}) {
			t.Errorf("slow %v", got)
		}
		if got := fast.Size(b.Of); got != (Amounts{501, gib}) {
			t.Errorf("fast %v", got)
		}
	})
	t.Run("a size is between the steady demand and the peak, whatever the share is", func(t *testing.T) {
		d := cpu(500, 1500)
		for share, want := range map[float64]int64{-1: 500, 0: 500, 0.2501: 751, 0.5: 1000, 1: 1500, 7: 1500, math.Inf(1): 1500} {
			if got := d.Size([2]float64{share, share}); got != (Amounts{want, gib}) {
				t.Errorf("%v: %v, want %d", share, got, want)
			}
		}
		if got := d.Size([2]float64{math.NaN(), 0}); got[0] != 1500 {
			t.Errorf("an unknown share: %v", got)
		}
		if d := cpu(500, 100); d.Size([2]float64{1, 1})[0] != 500 {
			t.Error("less than the steady demand")
		}
	})
	t.Run("a correlation keeps more, up to all rests", func(t *testing.T) {
		pods := unlike(4, cpu(0, 1000))
		for c, want := range map[float64]int64{-1: 2000, 0: 2000, 0.25: 2646, 1: 4000, 9: 4000} {
			if got := of(t, both(Rule{Independent, c}), has, pods...).Reserve[0]; got != want {
				t.Errorf("%v: %d, want %d", c, got, want)
			}
		}
		if got := of(t, both(Rule{Independent, math.NaN()}), has, pods...).Reserve[0]; got != 2000 {
			t.Errorf("an unknown correlation: %d", got)
		}
	})
	t.Run("each resource has its own rule", func(t *testing.T) {
		d := Demand{Peak: Amounts{1000, 1000}}
		if got := of(t, Rules{{}, {Reserve: Independent}}, has, alone(0, d), alone(1, d), alone(2, d), alone(3, d)); got.Of != [2]float64{0.25, 0.5} {
			t.Errorf("%v", got.Of)
		}
	})
	t.Run("the correlation of series follows from their sum", func(t *testing.T) {
		// Four series of variance 9.
		for ofSum, want := range map[float64]float64{36: 0, 144: 1, 90: 0.5, 10: 0, 150: 1} {
			if got := Correlation(36, 12, ofSum); math.Abs(got-want) > 1e-12 {
				t.Errorf("%v: %v, want %v", ofSum, got, want)
			}
		}
		for _, got := range []float64{Correlation(9, 3, 9), Correlation(0, 0, 0), Correlation(math.NaN(), 1, 1), Correlation(1, math.NaN(), 1), Correlation(36, 12, math.NaN())} {
			if got != 0 {
				t.Errorf("%v without pairs", got)
			}
		}
	})
}
