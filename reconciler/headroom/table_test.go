package headroom

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

func TestTable(t *testing.T) {
	has := Node{Allocatable: Amounts{16_000, 64 * gib}}
	t.Run("computes only nodes that have changed, and publishes values that do not change", func(t *testing.T) {
		table := NewTable(Rules{})
		if table.shares.Of("a") != nil || len(table.shares.nodes) != 0 {
			t.Error("an empty table has shares")
		}
		for _, name := range []string{"c", "a", "b"} {
			table.SetNode(name, has)
			table.SetPod(name, name, alone(0, cpu(500, 1500)))
		}
		first, different := table.Publish()
		if !slices.Equal(different, []string{"a", "b", "c"}) {
			t.Errorf("%v differ", different)
		}
		if again, different := table.Publish(); again != first || different != nil {
			t.Errorf("%v differ without a change", different)
		}
		before := *first.Of("b")
		table.SetNode("a", has)
		table.SetPod("c", "c", alone(0, cpu(500, 1500)))
		table.SetPod("new", "b", alone(1, cpu(500, 1500)))
		second, different := table.Publish()
		if !slices.Equal(different, []string{"b"}) || second.Of("a") != first.Of("a") || second.Of("c") != first.Of("c") {
			t.Errorf("%v differ", different)
		}
		if *first.Of("b") != before || second.Of("b").Of[0] != 0.5 || table.shares != second {
			t.Errorf("%+v, then %+v", *first.Of("b"), *second.Of("b"))
		}
		// A change that is undone before it is published is none.
		table.RemovePod("new")
		table.SetPod("new", "b", alone(1, cpu(500, 1500)))
		if third, different := table.Publish(); third != second || different != nil {
			t.Errorf("%v differ", different)
		}
	})
	t.Run("follows pods and nodes that move and end", func(t *testing.T) {
		table := NewTable(Rules{})
		table.SetPod("p", "a", alone(0, cpu(500, 1500)))
		if all, _ := table.Publish(); all.Of("a") != nil {
			t.Error("a node that is not known has a share")
		}
		table.SetNode("a", has)
		table.SetNode("b", has)
		if all, _ := table.Publish(); all.Of("a").Steady[0] != 500 || all.Of("b").Steady[0] != 0 {
			t.Errorf("%+v", all.Of("a"))
		}
		table.SetPod("p", "b", alone(0, cpu(600, 1500)))
		if all, different := table.Publish(); all.Of("a").Steady[0] != 0 || all.Of("b").Steady[0] != 600 || len(different) != 2 {
			t.Errorf("%v differ", different)
		}
		table.RemoveNode("b")
		if all, _ := table.Publish(); all.Of("b") != nil || len(all.nodes) != 1 {
			t.Error("a removed node has a share")
		}
		table.SetNode("b", has)
		if all, _ := table.Publish(); all.Of("b").Steady[0] != 600 {
			t.Error("a pod was lost with its node")
		}
		table.SetPod("p", "", nil)
		table.RemovePod("unknown")
		table.RemoveNode("unknown")
		table.RemoveNode("a")
		table.RemoveNode("b")
		if all, _ := table.Publish(); len(all.nodes) != 0 || len(table.nodes)+len(table.pods)+len(table.changed) != 0 {
			t.Errorf("%d nodes, %d pods, %d changes are left", len(table.nodes), len(table.pods), len(table.changed))
		}
	})
	t.Run("knows what pods of a pool can expect", func(t *testing.T) {
		table := NewTable(Rules{})
		names := []string{"flat", "unknown"}
		for n := range 5 {
			name := fmt.Sprint("n", n)
			names = append(names, name)
			table.SetNode(name, has)
			for i := range n + 1 {
				table.SetPod(fmt.Sprint(n, i), name, alone(i, cpu(500, 1500)))
			}
		}
		table.SetNode("flat", has)
		all, _ := table.Publish()
		if got := all.Expected(names); got != [2]float64{0.5, 1} {
			t.Errorf("%v", got)
		}
		for n, want := range map[int]float64{0: 1, 1: 0, 2: 1, 3: 2, 4: 3, 5: 3, 100: 75, 101: 75, 102: 76} {
			var shares []float64
			for i := range n {
				shares = append(shares, float64(n-1-i))
			}
			if got := Expected(shares); got != want {
				t.Errorf("%d nodes: %v, want %v", n, got, want)
			}
		}
	})
	t.Run("can be used by several goroutines", func(t *testing.T) {
		table := NewTable(Rules{})
		var wait sync.WaitGroup
		for worker := range 4 {
			wait.Go(func() {
				for i := range 200 {
					table.SetNode(fmt.Sprint(i%7), has)
					table.SetPod(fmt.Sprint(worker, i), fmt.Sprint(i%7), alone(i, cpu(1, 2)))
					if all, _ := table.Publish(); all.Of("0") == nil {
						t.Error("no share")
					}
				}
			})
		}
		wait.Wait()
		if all, _ := table.Publish(); len(all.nodes) != 7 {
			t.Errorf("%d nodes", len(all.nodes))
		}
	})
}

// oracle computes a share without Sum: from the definitions.
func oracle(rules Rules, n Node, pods map[string]*Pod) (s Share) {
	for i := range 2 {
		var largest, rests, steady, unmanaged float64
		workloads := map[string]float64{}
		for _, p := range pods {
			rest := 0.0
			for _, d := range p.Containers {
				steady += float64(max(0, d.Steady[i]))
				rest += math.Max(0, float64(d.Peak[i])-float64(max(0, d.Steady[i])))
			}
			rests, largest = rests+rest, math.Max(largest, rest)
			workloads[p.Workload] += rest
			unmanaged += float64(p.Unmanaged[i])
		}
		kept := largest
		if rule := rules[i]; rule.Reserve == Independent {
			kept = rule.Correlation * rests * rests
			for _, rest := range workloads {
				kept += (1 - rule.Correlation) * rest * rest
			}
			kept = math.Sqrt(kept)
		}
		if rests > 0 {
			s.Of[i] = kept / rests
		}
		s.Steady[i], s.Rests[i], s.Available[i] = int64(steady), int64(rests), n.Allocatable[i]-int64(unmanaged)
	}
	return s
}

// Random lives of pods and nodes: after each publication, every share is what the definitions say of the pods that
// exist, whatever happened before.
func TestRandomLives(t *testing.T) {
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 39))
		rules := both(Rule{Reserve: Reserve(seed % 2), Correlation: float64(seed%3) * 0.3})
		table := NewTable(rules)
		nodes, on := map[string]Node{}, map[string]string{}
		pods := map[string]*Pod{}
		newPod := func() *Pod {
			p := &Pod{Workload: fmt.Sprint(random.IntN(6))}
			for range random.IntN(3) {
				steady, peak := random.Int64N(3000)-200, random.Int64N(3000)-200
				p.Containers = append(p.Containers, Demand{Steady: Amounts{steady, steady * gib / 1000}, Peak: Amounts{peak, peak * gib / 1000}})
			}
			if random.IntN(4) == 0 {
				p.Unmanaged = Amounts{random.Int64N(2000), random.Int64N(gib)}
			}
			return p
		}
		for range 300 {
			name, uid := fmt.Sprint("n", random.IntN(5)), fmt.Sprint("p", random.IntN(60))
			switch random.IntN(10) {
			case 0:
				nodes[name] = Node{Allocatable: Amounts{random.Int64N(32_000), random.Int64N(64 * gib)}}
				table.SetNode(name, nodes[name])
			case 1:
				delete(nodes, name)
				table.RemoveNode(name)
			case 2, 3:
				delete(pods, uid)
				table.RemovePod(uid)
			default:
				pods[uid], on[uid] = newPod(), name
				table.SetPod(uid, name, pods[uid])
			}
			if random.IntN(5) > 0 {
				continue
			}
			before := map[string]*Share{}
			for name := range table.shares.nodes {
				before[name] = table.shares.Of(name)
			}
			all, different := table.Publish()
			if len(all.nodes) != len(nodes) {
				t.Fatalf("seed %d: %d shares of %d nodes", seed, len(all.nodes), len(nodes))
			}
			for name, n := range nodes {
				here := map[string]*Pod{}
				for uid, p := range pods {
					if on[uid] == name {
						here[uid] = p
					}
				}
				want, got := oracle(rules, n, here), all.Of(name)
				for i := range 2 {
					switch {
					case !(got.Of[i] >= 0 && got.Of[i] <= 1) || got.Reserve[i] < 0 || got.Reserve[i] > got.Rests[i]:
						t.Fatalf("seed %d: %+v", seed, got)
					case got.Rests[i] > 0 && math.Abs(got.Of[i]-want.Of[i])*float64(got.Rests[i]) > 1+1e-6*float64(got.Rests[i]):
						t.Fatalf("seed %d: share %v, want %v", seed, got.Of[i], want.Of[i])
					}
				}
				if got.Steady != want.Steady || got.Rests != want.Rests || got.Available != want.Available {
					t.Fatalf("seed %d: %+v, want %+v", seed, got, want)
				}
				// Together, all containers get the steady demands and the reserve, and each up to one unit more.
				var sizes Amounts
				count := int64(0)
				for _, p := range here {
					for _, d := range p.Containers {
						sizes = sizes.plus(d.Size(got.Of))
						count++
					}
				}
				for i := range 2 {
					if least := got.Steady[i] + got.Reserve[i]; sizes[i] < least-1 || sizes[i] > least+count+1 {
						t.Fatalf("seed %d: %d containers get %d, want %d", seed, count, sizes[i], least)
					}
				}
				if unchanged := !slices.Contains(different, name); unchanged && before[name] != got {
					t.Fatalf("seed %d: another share of a node that did not change", seed)
				}
			}
		}
		// A replica that has seen nothing but the end publishes the same.
		late := NewTable(rules)
		for name, n := range nodes {
			late.SetNode(name, n)
		}
		for uid, p := range pods {
			late.SetPod(uid, on[uid], p)
		}
		all, _ := table.Publish()
		if same, _ := late.Publish(); !maps.EqualFunc(same.nodes, all.nodes, func(a, b *Share) bool { return *a == *b }) {
			t.Fatalf("seed %d: replicas differ", seed)
		}
	}
}

// Neighbors must not be resized because one pod comes or goes: their sizes stay within the band of a tenth in which a pod
// keeps its size.
func TestNoRipple(t *testing.T) {
	const band = 0.1
	for _, rules := range []Rules{{}, both(Rule{Reserve: Independent}), both(Rule{Independent, 0.3})} {
		random := rand.New(rand.NewPCG(1, 39))
		left, all := 0, 0
		for range 200 {
			table := NewTable(rules)
			table.SetNode("n", Node{Allocatable: Amounts{16_000, 64 * gib}})
			var pods []*Pod
			for i := range 30 {
				steady := 100 + random.Int64N(400)
				pods = append(pods, alone(i, cpu(steady, steady+random.Int64N(2*steady))))
				table.SetPod(fmt.Sprint(i), "n", pods[i])
			}
			before, _ := table.Publish()
			table.RemovePod("0")
			after, _ := table.Publish()
			for _, p := range pods[1:] {
				was, is := p.Containers[0].Size(before.Of("n").Of)[0], p.Containers[0].Size(after.Of("n").Of)[0]
				all++
				if math.Abs(float64(is-was)) > band*float64(was) {
					left++
				}
			}
		}
		if left > 0 {
			t.Errorf("%+v: %d of %d sizes leave the band when a pod goes", rules, left, all)
		}
	}
}

// A minute of a large cluster, in which the demands of all pods change, or those of a fiftieth.
func BenchmarkPublish(b *testing.B) {
	const nodes, pods = 5000, 150_000
	for _, rules := range []Rules{{}, both(Rule{Independent, 0.3})} {
		for _, every := range []int{1, 50} {
			b.Run(fmt.Sprintf("reserve=%d/one in %d pods", rules[0].Reserve, every), func(b *testing.B) {
				table := NewTable(rules)
				uids, names, states := make([]string, pods), make([]string, pods), [2][]*Pod{make([]*Pod, pods), make([]*Pod, pods)}
				for i := range pods {
					uids[i], names[i] = fmt.Sprintf("5b4f6a1e-0000-4000-8000-%012d", i), fmt.Sprint("node-", i%nodes)
					for k := range states {
						d := cpu(int64(100+i%400+k), int64(600+i%900))
						states[k][i] = &Pod{Workload: fmt.Sprint("deployment/", i/20), Containers: []Demand{d, d}}
					}
					table.SetNode(names[i], Node{Allocatable: Amounts{16_000, 64 * gib}})
					table.SetPod(uids[i], names[i], states[1][i])
				}
				table.Publish()
				b.ReportAllocs()
				round := 0
				for b.Loop() {
					for i := 0; i < pods; i += every {
						table.SetPod(uids[i], names[i], states[round%2][i])
					}
					table.Publish()
					round++
				}
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/60, "cores")
			})
		}
	}
}
