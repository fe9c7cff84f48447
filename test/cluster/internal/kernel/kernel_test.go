package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

const tick = time.Second

func near(a, b float64) bool { return math.Abs(a-b) < 1e-6 }

// one returns a pod with one container.
func one(limits Limits, cores float64, bytes int64) *Pod {
	return &Pod{Limits: limits, Containers: []*Container{{Limits: limits, WantedCores: cores, WantedBytes: bytes}}}
}

func TestShare(t *testing.T) {
	for _, test := range []struct {
		name   string
		cores  float64
		claims []claim
		want   []float64
	}{
		{"what everybody wants is granted if it fits", 4, []claim{{1, 1}, {1, 3}}, []float64{1, 3}},
		{"equal weights share equally", 2, []claim{{1, 5}, {1, 3}}, []float64{1, 1}},
		{"weights are proportions", 3, []claim{{2, 5}, {1, 5}}, []float64{2, 1}},
		{"what one does not need goes to the others by weight", 4, []claim{{1, 1}, {1, 9}, {2, 9}}, []float64{1, 1, 2}},
		{"who wants nothing gets nothing", 1, []claim{{100, 0}, {1, 1}}, []float64{0, 1}},
		{"a weight of zero counts as the smallest", 2, []claim{{0, 9}, {1, 9}}, []float64{1, 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for i, got := range share(test.cores, test.claims) {
				if !near(got, test.want[i]) {
					t.Errorf("claim %d gets %g, want %g", i, got, test.want[i])
				}
			}
		})
	}
	t.Run("any claims are treated fairly, and no core is idle that somebody wants", anyClaimsAreTreatedFairly)
}

func anyClaimsAreTreatedFairly(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		cores := random.Float64() * 10
		claims := make([]claim, 1+random.IntN(8))
		var wanted float64
		for i := range claims {
			claims[i] = claim{weight: 1 + random.Float64()*1000, wanted: max(random.Float64()*5-1, 0)}
			wanted += claims[i].wanted
		}
		granted := share(cores, claims)
		var sum, fair float64
		for i := range claims {
			sum += granted[i]
			if granted[i] > claims[i].wanted+1e-9 {
				t.Fatalf("%v of %g cores: claim %d gets %g", claims, cores, i, granted[i])
			}
			fair = max(fair, granted[i]/claims[i].weight)
		}
		if !near(sum, min(cores, wanted)) {
			t.Fatalf("%v of %g cores: %g are granted", claims, cores, sum)
		}
		for i := range claims {
			if granted[i] < claims[i].wanted-1e-9 && granted[i]/claims[i].weight < fair-1e-9 {
				t.Fatalf("%v of %g cores: claim %d is not satisfied with %g, less than its part", claims, cores, i, granted[i])
			}
		}
	}
}

func TestTick(t *testing.T) {
	t.Run("a container uses what it wants", aContainerUsesWhatItWants)
	t.Run("a quota throttles", aQuotaThrottles)
	t.Run("a pod's quota throttles its containers together", aPodsQuotaThrottlesItsContainersTogether)
	t.Run("a container that is starved below its quota is not throttled", aStarvedContainerIsNotThrottled)
	t.Run("a container that gets all it wants has no pressure in a throttled pod", aSatisfiedContainerHasNoPressure)
	t.Run("no more threads are throttled than the node has cores", throttledTimeIsThatOfCores)
	t.Run("threads beyond the cores of the node wait for each other", threadsWaitForEachOther)
	t.Run("periods are counted in ticks of any length", periodsInTicksOfAnyLength)
	t.Run("the peak of memory stays", thePeakOfMemoryStays)
	t.Run("any group has at most as much full pressure as some, and no counter goes back", anyTicksAreConsistent)
	t.Run("a busy node is shared by weight", aBusyNodeIsSharedByWeight)
	t.Run("the node's own processes come first", theNodesOwnProcessesComeFirst)
	t.Run("averages of pressure approach the pressure at their speeds", averagesOfPressure)
	t.Run("memory is tight in the last tenth below the limit", memoryIsTightBelowTheLimit)
	t.Run("new limits count in the next tick", newLimitsCountInTheNextTick)
	t.Run("the same ticks have the same results", theSameTicksHaveTheSameResults)
}

func aContainerUsesWhatItWants(t *testing.T) {
	node, pod := Node{Cores: 4, Memory: 1 << 30}, one(Limits{Quota: 2}, 1.5, 100)
	for range 10 {
		if killed := node.Tick(tick, System{Cores: 0.1, Bytes: 50}, []*Pod{pod}); killed != nil {
			t.Fatalf("killed %v", killed)
		}
	}
	for name, account := range map[string]Account{"container": pod.Containers[0].Account, "pod": pod.Account} {
		if account.Usage != 15*time.Second || account.Bytes != 100 || account.Cores != 1.5 {
			t.Errorf("the %s used %v and %d bytes", name, account.Usage, account.Bytes)
		}
		if account.Periods() != 100 || account.ThrottledPeriods() != 0 || account.CPU != (Pressure{}) {
			t.Errorf("the %s is throttled: %+v", name, account)
		}
	}
	if got := node.Pods; got.Usage != 15*time.Second || got.Bytes != 100 {
		t.Errorf("the pods used %v and %d bytes", got.Usage, got.Bytes)
	}
	if got := node.Account; got.Usage != 16*time.Second || got.Bytes != 150 {
		t.Errorf("the node used %v and %d bytes", got.Usage, got.Bytes)
	}
}

func aQuotaThrottles(t *testing.T) {
	node, pod := Node{Cores: 4, Memory: 1 << 30}, one(Limits{Quota: 0.5}, 2, 0)
	for range 300 {
		node.Tick(tick, System{}, []*Pod{pod})
	}
	got := pod.Containers[0].Account
	if got.Usage != 150*time.Second || got.Throttled != 450*time.Second || got.Periods() != 3000 || got.ThrottledPeriods() != 3000 {
		t.Errorf("got %+v", got)
	}
	if !near(got.CPU.Some.Total.Seconds(), 225) || got.CPU.Full != got.CPU.Some {
		t.Errorf("the pressure is %+v", got.CPU)
	}
	if node.Account.CPU.Full != (Stall{}) || node.Account.CPU.Some.Total == 0 {
		t.Errorf("the pressure on the node is %+v", node.Account.CPU)
	}
}

func aPodsQuotaThrottlesItsContainersTogether(t *testing.T) {
	pod := &Pod{Limits: Limits{Quota: 1}, Containers: []*Container{{WantedCores: 3}, {WantedCores: 1}}}
	node := Node{Cores: 8, Memory: 1 << 30}
	node.Tick(tick, System{}, []*Pod{pod})
	if a, b := pod.Containers[0].Account, pod.Containers[1].Account; !near(a.Cores, 0.5) || !near(b.Cores, 0.5) ||
		!near(a.CPU.Full.Total.Seconds(), 5.0/6) || a.Throttled != 0 {
		t.Errorf("got %+v and %+v", a, b)
	}
	if got := pod.Account; got.ThrottledPeriods() != 10 || got.Throttled != 3*time.Second {
		t.Errorf("the pod's account is %+v", got)
	}
}

func aStarvedContainerIsNotThrottled(t *testing.T) {
	a, b := one(Limits{Weight: 1, Quota: 3}, 4, 0), one(Limits{Weight: 1, Quota: 3}, 4, 0)
	node := Node{Cores: 4, Memory: 1 << 30}
	node.Tick(tick, System{}, []*Pod{a, b})
	for name, account := range map[string]Account{"container": a.Containers[0].Account, "pod": a.Account} {
		if account.Cores != 2 || account.Periods() != 10 || account.ThrottledPeriods() != 0 || account.Throttled != 0 {
			t.Errorf("the %s gets 2 of the 3 cores that its quota allows: %+v", name, account)
		}
	}
}

func aSatisfiedContainerHasNoPressure(t *testing.T) {
	pod := &Pod{Limits: Limits{Quota: 1}, Containers: []*Container{{WantedCores: 0.1}, {WantedCores: 3}}}
	node := Node{Cores: 8, Memory: 1 << 30}
	node.Tick(tick, System{}, []*Pod{pod})
	if got := pod.Containers[0].Account; got.Cores != 0.1 || got.CPU != (Pressure{}) {
		t.Errorf("got %+v", got)
	}
}

func throttledTimeIsThatOfCores(t *testing.T) {
	node, pod := Node{Cores: 4, Memory: 1 << 30}, one(Limits{Quota: 1}, 1e18, 0)
	node.Tick(tick, System{}, []*Pod{pod})
	for name, account := range map[string]Account{"container": pod.Containers[0].Account, "pod": pod.Account} {
		if account.Throttled != 3*time.Second {
			t.Errorf("the %s was throttled for %v", name, account.Throttled)
		}
	}
}

func threadsWaitForEachOther(t *testing.T) {
	node, pod := Node{Cores: 4, Memory: 1 << 30}, one(Limits{}, 8, 0)
	node.Tick(tick, System{}, []*Pod{pod})
	if got := pod.Containers[0].Account.CPU; !near(got.Some.Total.Seconds(), 0.5) || got.Full != (Stall{}) {
		t.Errorf("got %+v", got)
	}
}

func periodsInTicksOfAnyLength(t *testing.T) {
	node, pod := Node{Cores: 4, Memory: 1 << 30}, one(Limits{Quota: 0.5}, 2, 0)
	for range 1000 {
		node.Tick(999*time.Millisecond, System{}, []*Pod{pod})
	}
	if got := pod.Containers[0].Account; got.Periods() != 9990 || got.ThrottledPeriods() != 9990 {
		t.Errorf("got %d periods, of which %d were throttled", got.Periods(), got.ThrottledPeriods())
	}
}

func thePeakOfMemoryStays(t *testing.T) {
	node, pod := Node{Cores: 4, Memory: 1 << 30}, one(Limits{}, 0, 0)
	for _, bytes := range []int64{5, 9, 3} {
		pod.Containers[0].WantedBytes = bytes
		node.Tick(tick, System{}, []*Pod{pod})
	}
	if got := pod.Containers[0].Account; got.Bytes != 3 || got.Peak != 9 {
		t.Errorf("got %+v", got)
	}
}

func anyTicksAreConsistent(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	node := Node{Cores: 4, Memory: 1 << 30}
	pods := make([]*Pod, 5)
	for i := range pods {
		pods[i] = &Pod{Containers: []*Container{{}, {}}}
	}
	accounts := func() (all []Account) {
		all = []Account{node.Account, node.Pods}
		for _, pod := range pods {
			all = append(all, pod.Account, pod.Containers[0].Account, pod.Containers[1].Account)
		}
		return all
	}
	quota := func() float64 { return max(random.Float64()*4-1, 0) }
	for range 2000 {
		for _, pod := range pods {
			pod.Weight, pod.Quota = 2+random.Float64()*1000, quota()
			for _, container := range pod.Containers {
				container.Weight, container.Quota, container.WantedCores = 2+random.Float64()*1000, quota(), max(random.Float64()*10-5, 0)
			}
		}
		before := accounts()
		node.Tick(tick, System{Cores: 0.01}, pods)
		var sum float64
		for i, after := range accounts() {
			was := before[i]
			if after.Usage < was.Usage || after.Throttled < was.Throttled || after.Enforced < was.Enforced ||
				after.Exhausted-was.Exhausted > after.Enforced-was.Enforced ||
				after.CPU.Some.Total-was.CPU.Some.Total > tick {
				t.Fatalf("from %+v to %+v", was, after)
			}
			if after.CPU.Full.Total-was.CPU.Full.Total > after.CPU.Some.Total-was.CPU.Some.Total {
				t.Fatalf("more full than some: from %+v to %+v", was, after)
			}
		}
		for _, pod := range pods {
			sum += pod.Containers[0].Account.Cores + pod.Containers[1].Account.Cores
		}
		if sum > node.Cores || !near(sum, node.Pods.Cores) {
			t.Fatalf("the containers use %g cores, the pods %g", sum, node.Pods.Cores)
		}
	}
}

func aBusyNodeIsSharedByWeight(t *testing.T) {
	heavy, light, small := one(Limits{Weight: 3072}, 4, 0), one(Limits{Weight: 1024}, 4, 0), one(Limits{Weight: 2}, 0.5, 0)
	node := Node{Cores: 4, Memory: 1 << 30}
	node.Tick(tick, System{}, []*Pod{heavy, light, small})
	if got := heavy.Account.Cores / light.Account.Cores; !near(got, 3) {
		t.Errorf("the heavy pod gets %g times as much", got)
	}
	if sum := heavy.Account.Cores + light.Account.Cores + small.Account.Cores; !near(sum, 4) {
		t.Errorf("%g cores are used", sum)
	}
	starved := light.Containers[0].Account
	// Measured on Linux 6.18: of two programs that share a CPU, each has as much "full" as
	// "some".
	if want := 1 - starved.Cores/4; !near(starved.CPU.Some.Total.Seconds(), want) || starved.CPU.Full != starved.CPU.Some || starved.Throttled != 0 {
		t.Errorf("the starved container's account is %+v, want pressure %g", starved, want)
	}
}

func theNodesOwnProcessesComeFirst(t *testing.T) {
	node, pod := Node{Cores: 1, Memory: 1 << 30}, one(Limits{Weight: 1024}, 1, 0)
	node.Tick(tick, System{Cores: 0.01}, []*Pod{pod})
	if !near(pod.Account.Cores, 0.99) {
		t.Errorf("the pod gets %g cores", pod.Account.Cores)
	}
}

func averagesOfPressure(t *testing.T) {
	node, pod := Node{Cores: 4, Memory: 1 << 30}, one(Limits{Quota: 1}, 2, 0)
	for range 10 {
		node.Tick(tick, System{}, []*Pod{pod})
	}
	got := pod.Account.CPU.Some
	for _, average := range []struct{ got, window float64 }{{got.Avg10, 10}, {got.Avg60, 60}, {got.Avg300, 300}} {
		if want := 50 * (1 - math.Exp(-10/average.window)); !near(average.got, want) {
			t.Errorf("the average of %g s is %g after 10 s, want %g", average.window, average.got, want)
		}
	}
}

func memoryIsTightBelowTheLimit(t *testing.T) {
	for bytes, want := range map[int64]float64{500: 0, 900: 0, 950: 0.5, 1000: 1} {
		node, pod := Node{Cores: 4, Memory: 1 << 30}, one(Limits{Memory: 1000}, 0, bytes)
		node.Tick(tick, System{}, []*Pod{pod})
		if got := pod.Containers[0].Account.Memory.Some.Total.Seconds(); !near(got, want) {
			t.Errorf("%d of 1000 bytes: stalled for %g s, want %g", bytes, got, want)
		}
	}
}

func newLimitsCountInTheNextTick(t *testing.T) {
	node, pod := Node{Cores: 4, Memory: 1 << 30}, one(Limits{Quota: 1}, 2, 0)
	node.Tick(tick, System{}, []*Pod{pod})
	pod.Quota, pod.Containers[0].Quota = 3, 3
	node.Tick(tick, System{}, []*Pod{pod})
	if got := pod.Containers[0].Account; got.Cores != 2 || got.Usage != 3*time.Second || got.Throttled != time.Second {
		t.Errorf("got %+v", got)
	}
}

func theSameTicksHaveTheSameResults(t *testing.T) {
	run := func() Account {
		node := Node{Cores: 2, Memory: 1 << 30}
		pods := []*Pod{one(Limits{Weight: 7}, 1.7, 5), one(Limits{Weight: 3, Quota: 0.4}, 1, 5), one(Limits{Weight: 9}, 1.1, 5)}
		for range 100 {
			node.Tick(tick, System{Cores: 0.01}, pods)
		}
		return pods[0].Account
	}
	if a, b := run(), run(); a != b {
		t.Errorf("got %+v and %+v", a, b)
	}
}

func TestKill(t *testing.T) {
	const gib = 1 << 30
	for _, test := range []struct {
		name   string
		pods   []*Pod
		killed []int // indices of pods
		global bool
	}{
		{"a container at its limit lives", []*Pod{one(Limits{Memory: 100}, 1, 100)}, nil, false},
		{"a container above its limit is killed", []*Pod{one(Limits{Memory: 100}, 1, 101), one(Limits{}, 1, 101)}, []int{0}, false},
		{"a full node kills the container with the most memory", []*Pod{one(Limits{}, 0, 3*gib), one(Limits{}, 0, 4*gib), one(Limits{}, 0, 2*gib)}, []int{1}, true},
		{"a full node kills until the rest fits", []*Pod{one(Limits{}, 0, 7*gib), one(Limits{}, 0, 7*gib), one(Limits{}, 0, 9*gib)}, []int{2, 0}, true},
		{"a full node spares the containers that its kubelet protects", []*Pod{
			{Containers: []*Container{{WantedBytes: 5 * gib, OOMScoreAdj: -997}}},
			{Containers: []*Container{{WantedBytes: 4 * gib, OOMScoreAdj: 1000}}},
		}, []int{1}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			node := Node{Cores: 4, Memory: 8 * gib}
			var want []*Container
			for _, i := range test.killed {
				want = append(want, test.pods[i].Containers[0])
			}
			got := node.Tick(tick, System{}, test.pods)
			if len(got) != len(want) {
				t.Fatalf("%d containers are killed, want %d", len(got), len(want))
			}
			for i, container := range want {
				if want := (Kill{Container: container, Global: test.global}); got[i] != want {
					t.Errorf("got %+v, want %+v", got[i], want)
				}
				if container.Account.Usage != 0 {
					t.Errorf("a killed container ran for %v", container.Account.Usage)
				}
			}
		})
	}
	t.Run("a pod above its own limit loses its largest container", func(t *testing.T) {
		pod := &Pod{Limits: Limits{Memory: 100}, Containers: []*Container{{WantedBytes: 40}, {WantedBytes: 70}}}
		node := Node{Cores: 4, Memory: 8 * gib}
		if killed := node.Tick(tick, System{}, []*Pod{pod}); len(killed) != 1 || killed[0] != (Kill{Container: pod.Containers[1]}) {
			t.Errorf("killed %v", killed)
		}
	})
}
