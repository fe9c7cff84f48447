package demand

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/usage/checkpoint"
)

// following returns ratios with which the sizes of all pods follow usage.
func following() *ratios.Layer {
	layer := clustertest.Published()
	layer.Settings = keys.Some(policy.Settings{Demand: policy.Demand{From: policy.FromUsage, Mode: policy.Apply}})
	return layer
}

// needsOf returns what the container app of a pod needs; nil if its size does not follow usage.
func (f *fixture) needsOf(t *testing.T, name string) *need.Container {
	t.Helper()
	p := f.of.Pods("shop").Get(name)
	of := f.NeedsOf(p, f.of.Owners().Chain(nil, p), f.Ratios.Table(), false)
	if of == nil {
		return nil
	}
	needs, _ := of.Of("app")
	return needs
}

func TestNeeds(t *testing.T) {
	t.Run("no size follows usage unless so configured", noSizeFollowsUsageUnlessSoConfigured)
	t.Run("only pods that are being created follow usage initially", onlyPodsThatAreBeingCreatedFollowUsageInitially)
	t.Run("nothing is known before the stored history was read", nothingIsKnownBeforeTheStoredHistoryWasRead)
	t.Run("pods of a workload share what it needs", podsOfAWorkloadShareWhatItNeeds)
	t.Run("pods are planned again when their needs have moved", podsArePlannedAgainWhenTheirNeedsHaveMoved)
	t.Run("needs have the same revision on all replicas until they move", needsHaveTheSameRevisionUntilTheyMove)
	t.Run("a table that is not in effect has needs of its own", aTableThatIsNotInEffectHasNeedsOfItsOwn)
	t.Run("the memory that a container uses is known for a few minutes", theMemoryThatAContainerUsesIsKnownForSomeMinutes)
}

func noSizeFollowsUsageUnlessSoConfigured(t *testing.T) {
	usage := clustertest.Published()
	usage.Settings = keys.Some(policy.Settings{Demand: policy.Demand{From: policy.FromUsage}})
	author := clustertest.Published()
	author.Settings = keys.Some(policy.Settings{Demand: policy.Demand{Mode: policy.Apply}})
	for name, layer := range map[string]*ratios.Layer{"by default": clustertest.Published(), "observed": usage, "by the author": author} {
		f := newFixture(t, layer)
		f.round(t)
		if got := f.needsOf(t, "web-1-x"); got != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func onlyPodsThatAreBeingCreatedFollowUsageInitially(t *testing.T) {
	layer := following()
	layer.Settings = keys.Some(policy.Settings{Demand: policy.Demand{From: policy.FromUsage, Mode: policy.Initial}})
	f := newFixture(t, layer)
	again := &changes{}
	f.of.Serve(again, func(types.NamespacedName, types.UID, time.Time) *plan.Refusal { return nil })
	f.round(t)
	p := f.of.Pods("shop").Get("web-1-x")
	owners, table := f.of.Owners().Chain(nil, p), f.Ratios.Table()
	if of := f.NeedsOf(p, owners, table, false); of != nil {
		t.Errorf("a running pod needs %+v", of)
	}
	created := podtest.Pod(podtest.Burstable, clustertest.Named("shop", "", ""))
	created.OwnerReferences[0].Name, created.OwnerReferences[0].UID = p.Controller().Name, p.Controller().UID
	of := f.NeedsOf(pod.BeingCreated(created, "", f.Clock.Now()), owners, table, true)
	if of == nil {
		t.Fatal("a new pod needs what its author wrote")
	}
	// Nobody knows how much memory a pod uses that does not run yet, and nothing can be taken from it.
	if needs, now := of.Of("app"); needs == nil || needs.CPU.Target == 0 || now != (need.Memory{}) || strings.Contains(needs.Memory.Keeps, unknownUse) {
		t.Errorf("a new pod needs %+v", needs)
	}
	if len(again.pods) != 0 {
		t.Errorf("planned again: %v", again.pods)
	}
}

func nothingIsKnownBeforeTheStoredHistoryWasRead(t *testing.T) {
	f := newFixture(t, following())
	f.Keeper = checkpoint.New(checkpoint.Config{})
	f.round(t)
	p := f.of.Pods("shop").Get("web-1-x")
	of := f.NeedsOf(p, f.of.Owners().Chain(nil, p), f.Ratios.Table(), false)
	if of != (need.Unknown{}) {
		t.Errorf("%+v", of)
	}
}

func podsOfAWorkloadShareWhatItNeeds(t *testing.T) {
	f := newFixture(t, following())
	if got := f.needsOf(t, "web-1-x"); got != nil {
		t.Errorf("before anything was measured: %+v", got)
	}
	f.round(t)
	x := f.needsOf(t, "web-1-x")
	if x == nil || x.CPU.Target != f.target(t, "").CPU || x.Memory.Target != f.target(t, "").Memory || x.CPU.Keeps == "" || x != f.needsOf(t, "web-1-y") {
		t.Errorf("%+v, want %v", x, f.target(t, ""))
	}
	clustertest.Clock(f.of).Step(time.Minute)
	f.round(t)
	if again := f.needsOf(t, "web-1-x"); again.CPU.Target != x.CPU.Target || again.CPU.Keeps == x.CPU.Keeps {
		t.Errorf("%+v, before %+v", again, x)
	}
	x = f.needsOf(t, "web-1-x")
	clustertest.Clock(f.of).Step(time.Minute)
	f.round(t)
	if again := f.needsOf(t, "web-1-x"); again != x {
		t.Errorf("%+v is not shared with %+v", again, x)
	}
}

func podsArePlannedAgainWhenTheirNeedsHaveMoved(t *testing.T) {
	f := newFixture(t, following())
	again := &changes{}
	f.of.Serve(again, func(types.NamespacedName, types.UID, time.Time) *plan.Refusal { return nil })
	f.round(t)
	if len(again.pods) != 2 {
		t.Errorf("planned again with the first recommendation: %v", again.pods)
	}
	again.pods = nil
	clustertest.Clock(f.of).Step(time.Minute)
	f.round(t)
	if len(again.pods) != 0 {
		t.Errorf("planned again although nothing has moved: %v", again.pods)
	}
	f.source.cpu = map[string]int64{"web-1-x": 4000, "web-1-y": 3200}
	clustertest.Clock(f.of).Step(5 * time.Hour)
	f.round(t)
	if len(again.pods) != 2 {
		t.Errorf("planned again after more was used: %v", again.pods)
	}
	again.pods = nil
	f.Ratios = clustertest.Store(t, clustertest.Published())
	f.publish(t.Context())
	if len(again.pods) != 2 || f.needsOf(t, "web-1-x") != nil {
		t.Errorf("planned again when sizes no longer follow usage: %v", again.pods)
	}
}

func theMemoryThatAContainerUsesIsKnownForSomeMinutes(t *testing.T) {
	f := newFixture(t, following())
	f.round(t)
	p := f.of.Pods("shop").Get("web-1-x")
	of := f.NeedsOf(p, f.of.Owners().Chain(nil, p), f.Ratios.Table(), false)
	if _, now := of.Of("app"); now.Used < 100<<20 || now.Used > 101<<20 {
		t.Errorf("%d bytes are in use", now.Used)
	}
	clustertest.Clock(f.of).SetTime(podtest.Start.Add(20 * time.Minute))
	if shown, got := of.Of("app"); got != (need.Memory{}) || shown.Memory.Keeps == "" || shown.Memory.KeepsLimit == "" {
		t.Errorf("%v bytes are in use 20 minutes after the last sample, and memory is lowered: %+v", got, shown)
	}
}

func needsHaveTheSameRevisionUntilTheyMove(t *testing.T) {
	f, other := newFixture(t, following()), newFixture(t, following())
	f.round(t)
	other.round(t)
	x := *f.needsOf(t, "web-1-x")
	if y := other.needsOf(t, "web-1-x"); x.CPU.Revision == 0 || x.CPU.Revision != y.CPU.Revision || x.Memory.Revision != y.Memory.Revision || x.CPU.Revision == x.Memory.Revision {
		t.Errorf("%+v, and on another replica %+v", x, y)
	}
	clustertest.Clock(f.of).Step(time.Minute)
	f.round(t)
	if again := f.needsOf(t, "web-1-x"); again.CPU.Keeps == x.CPU.Keeps || again.CPU.Revision != x.CPU.Revision {
		t.Errorf("%+v after %+v", again, x)
	}
	f.source.cpu = map[string]int64{"web-1-x": 4000, "web-1-y": 3200}
	clustertest.Clock(f.of).Step(5 * time.Hour)
	f.round(t)
	if moved := f.needsOf(t, "web-1-x"); moved.CPU.Revision == x.CPU.Revision {
		t.Errorf("%+v after %+v", moved, x)
	}
	strict := x
	strict.CPU.Rules = &need.Rules{}
	if revise(&strict); strict.CPU.Revision == x.CPU.Revision {
		t.Error("other rules have the same revision")
	}
	for _, floor := range [...]sizing.Amount{{Request: 5000}, {Limit: 5000}} {
		floored := x
		floored.CPU.Floor = floor
		if revise(&floored); floored.CPU.Revision == x.CPU.Revision {
			t.Errorf("the floor %+v has the same revision", floor)
		}
	}
}

func aTableThatIsNotInEffectHasNeedsOfItsOwn(t *testing.T) {
	layer := clustertest.Published()
	layer.Settings = keys.Some(policy.Settings{Demand: policy.Demand{From: policy.FromUsage}})
	f := newFixture(t, layer)
	needs := func(name string, table *ratios.Table) *need.Container {
		p := f.of.Pods("shop").Get(name)
		if of := f.NeedsOf(p, f.of.Owners().Chain(nil, p), table, false); of != nil {
			shown, _ := of.Of("app")
			return shown
		}
		return nil
	}
	applied := f.Ratios.Table().WithDemandMode(policy.Apply)
	f.publish(t.Context())
	if got := needs("web-1-x", applied); got != nil {
		t.Errorf("before anything was measured: %+v", got)
	}
	f.round(t)
	x := needs("web-1-x", applied)
	if x == nil || x.CPU.Target != f.target(t, "").CPU || x.CPU.Revision == 0 || x.CPU.Keeps == "" || x != needs("web-1-y", applied) {
		t.Errorf("%+v, want %v", x, f.target(t, ""))
	}
	if got := needs("web-1-x", f.Ratios.Table()); got != nil {
		t.Errorf("with the table in effect: %+v", got)
	}
	// Half of the history is of n4, which is then four times as fast, so that what was used there was more.
	fast := following()
	fast.Ratios["n4"] = ratios.Ratio{CPUPerf: 4 * fast.Ratios["n4"].CPUPerf, MemoryPerf: fast.Ratios["n4"].MemoryPerf}
	if got := needs("web-1-x", clustertest.Store(t, fast).Table()); got == nil || got.CPU.Target < 3*x.CPU.Target {
		t.Errorf("with another ratio: %+v, with those in effect %+v", got, x)
	}
}
