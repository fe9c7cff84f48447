package estimate

import (
	"math"
	"slices"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

func TestVotes(t *testing.T) {
	t.Run("many small workloads in a namespace do not outvote others", manySmallWorkloadsInANamespaceDoNotOutvoteOthers)
	t.Run("small workloads do not decide what is usual", smallWorkloadsDoNotDecideWhatIsUsual)
	t.Run("a namespace has no majority without a majority of the cores", aNamespaceHasNoMajorityWithoutAMajorityOfTheCores)
	t.Run("a namespace with most cores is not outvoted by a small one", aNamespaceWithMostCoresIsNotOutvotedByASmallOne)
	t.Run("a single namespace is not limited", aSingleNamespaceIsNotLimited)
	t.Run("workloads whose namespace is not known have a vote each", workloadsWhoseNamespaceIsNotKnownHaveAVoteEach)
	t.Run("workloads that hardly use CPU do not count", workloadsThatHardlyUseCPUDoNotCount)
	t.Run("says that few of the cores count", saysThatFewOfTheCoresCount)
	t.Run("says that few namespaces count", saysThatFewNamespacesCount)
}

// teams returns the chain, as workloads in ten namespaces.
func teams() *evidence.Evidence {
	e := chain(200)
	for i := range 200 {
		e.Workloads[evidence.Key(i)].Namespace = evidence.Key(10_000 + i/20)
	}
	return e
}

// fake adds workloads in a namespace that claim that n4 is as fast as n2d, and use the given cores each.
func fake(e *evidence.Evidence, count int, cores float64, change func(*evidence.Cell)) {
	for i := range count {
		c := cell(1, 2, 0.05*math.Sin(float64(i*i)))
		if change != nil {
			change(&c)
		}
		w := using(cores, c)
		w.Namespace = 20_000
		e.Workloads[evidence.Key(1000+i)] = w
	}
}

func near(t *testing.T, e *evidence.Evidence, ratio, within float64) {
	t.Helper()
	x := of(t, Estimate(e, "n2d", Defaults()), "n4")
	if math.Abs(x.Cluster.Ratio/ratio-1) > within || math.Abs(x.Population.Ratio/ratio-1) > within {
		t.Errorf("%.4f and %.4f, want %.4f", x.Cluster.Ratio, x.Population.Ratio, ratio)
	}
}

func manySmallWorkloadsInANamespaceDoNotOutvoteOthers(t *testing.T) {
	want := of(t, Estimate(teams(), "n2d", Defaults()), "n4").Cluster.Ratio
	for _, count := range []int{50, 500} {
		e := teams()
		for _, w := range e.Workloads {
			letUse(w, 10)
		}
		fake(e, count, 85/float64(count), nil) // 8% of the cores on n4.
		near(t, e, want, 0.02)
	}
}

// smallWorkloadsDoNotDecideWhatIsUsual adds workloads whose replicas are as like each other as none of others are.
func smallWorkloadsDoNotDecideWhatIsUsual(t *testing.T) {
	e := teams()
	fake(e, 500, 0.17, func(c *evidence.Cell) { c.Spread = [2]float64{0.001, 0.001} })
	r := Estimate(e, "n2d", Defaults())
	held := 0
	for _, w := range r.Workloads {
		if w.Key < 1000 && w.Held != "" {
			held++
		}
	}
	if held > 0 {
		t.Errorf("%d of 200 others are held back", held)
	}
}

func aNamespaceHasNoMajorityWithoutAMajorityOfTheCores(t *testing.T) {
	all := make([]workload, 110)
	for i := range all {
		all[i] = workload{namespace: 1, cores: map[int]float64{0: 0.4}}
		if i < 10 {
			all[i] = workload{namespace: evidence.Key(2 + i), cores: map[int]float64{0: 6}}
		}
	}
	vote(all)
	own, others := 0.0, 0.0
	for i := range all {
		if all[i].namespace == 1 {
			own += all[i].votes
		} else {
			others += all[i].votes
		}
	}
	if math.Abs(own-others) > 0.1 || others != 10 {
		t.Errorf("%.2f of it, %.2f of others", own, others)
	}
}

func aNamespaceWithMostCoresIsNotOutvotedByASmallOne(t *testing.T) {
	all := make([]workload, 120)
	for i := range all {
		all[i] = workload{namespace: 1, cores: map[int]float64{0: 9, 1: 9}}
		if i < 40 { // 5% of the cores on one of the types, and all on another.
			all[i] = workload{namespace: 2, cores: map[int]float64{0: 0.95, 2: 0.95}}
		}
	}
	vote(all)
	if all[119].votes != 1 {
		t.Errorf("the large one has %.2f votes per workload", all[119].votes)
	}
	if small := 40 * all[0].votes; math.Abs(small/(small+80)-0.1) > 0.01 {
		t.Errorf("the small one has %.2f votes", small)
	}
}

func aSingleNamespaceIsNotLimited(t *testing.T) {
	e := chain(200)
	want := Estimate(e, "n2d", Defaults())
	for i, w := range e.Workloads {
		w.Namespace = 10_000
		letUse(w, 0.2+float64(i%7))
	}
	got := Estimate(e, "n2d", Defaults())
	for i := range got.Types {
		if got.Types[i].Population != want.Types[i].Population {
			t.Errorf("%+v, want %+v", got.Types[i], want.Types[i])
		}
	}
}

func workloadsWhoseNamespaceIsNotKnownHaveAVoteEach(t *testing.T) {
	e := chain(200)
	for i, w := range e.Workloads {
		if letUse(w, 0.2); i < 100 {
			w.Namespace = 10_000
			letUse(w, 1000)
		}
	}
	want := of(t, Estimate(chain(200), "n2d", Defaults()), "n4").Population
	if got := of(t, Estimate(e, "n2d", Defaults()), "n4").Population; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func workloadsThatHardlyUseCPUDoNotCount(t *testing.T) {
	e := teams()
	fake(e, 500, 8*0.019, func(c *evidence.Cell) { c.Spread = [2]float64{0.001, 0.001} })
	for _, w := range e.Workloads {
		w.Namespace = 0
	}
	r := Estimate(e, "n2d", Defaults())
	if held := r.Workloads[len(r.Workloads)-1].Held; held != TooLittleCPU {
		t.Errorf("held for %q", held)
	}
	want := of(t, Estimate(teams(), "n2d", Defaults()), "n4")
	if got := of(t, r, "n4"); got.Population != want.Population || got.Held[TooLittleCPU] != 500 {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func saysThatFewOfTheCoresCount(t *testing.T) {
	e := teams()
	e.Workloads[1].Throttled = 500
	letUse(e.Workloads[1], 99)
	doubted := func(kind string) bool {
		return slices.Contains(codes(of(t, Estimate(e, "n2d", Defaults()), kind)), FewCoresCount)
	}
	if doubted("n4") {
		t.Error("it doubts half of the cores")
	}
	if letUse(e.Workloads[1], 105); !doubted("n4") || doubted("e2") {
		t.Error("it does not doubt less than half of the cores on the type, or doubts another type")
	}
}

func saysThatFewNamespacesCount(t *testing.T) {
	e := teams()
	for i := 7; i < 200; i += 2 { // Three workloads of others on n4 remain.
		delete(e.Workloads, evidence.Key(i))
	}
	for _, i := range []evidence.Key{1, 3, 5} {
		letUse(e.Workloads[i], 100)
	}
	fake(e, 100, 0.17, func(c *evidence.Cell) { c.Like.Mean -= math.Log(1.2) })
	x := of(t, Estimate(e, "n2d", Defaults()), "n4")
	if !slices.Contains(codes(x), TooFewWorkloads) || x.Workloads != 103 {
		t.Errorf("%d workloads, %+v", x.Workloads, x.Doubts)
	}
}
