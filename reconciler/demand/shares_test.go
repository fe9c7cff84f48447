package demand

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/headroom"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// sharingAll returns ratios with which all pods share.
func sharingAll(mode string) *ratios.Layer {
	layer := clustertest.Published()
	d := policy.Demand{From: policy.FromUsage, Mode: mode, Policy: policy.SharedPolicy}
	d.Memory.Share = true
	layer.Settings = keys.Some(policy.Settings{Demand: d})
	return layer
}

// sharedBy is like sharingAll, with other settings.
func sharedBy(mode string, change func(*policy.Settings)) *ratios.Layer {
	layer := sharingAll(mode)
	settings := layer.Settings.Values
	change(&settings)
	layer.Settings = keys.Some(settings)
	return layer
}

// bursts makes the pods of the fixture use ten times as much in one minute of every ten.
func (f *fixture) bursts() {
	f.source.cpu["web-1-x"], f.source.cpu["web-1-y"] = 100, 80
	f.source.burst = func(at time.Time) bool { return at.Minute()%10 == 0 }
}

// addPod adds a pod of a ReplicaSet to the first node. It uses as much as the first one.
func (f *fixture) addPod(t *testing.T, name, owner string, changes ...func(*corev1.Pod)) {
	t.Helper()
	p := podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, append([]func(*corev1.Pod){clustertest.Named("shop", name, "a"), func(p *corev1.Pod) {
		p.OwnerReferences[0].Name, p.CreationTimestamp = owner, metav1.NewTime(podtest.Start.Add(-24*time.Hour))
		p.Labels = map[string]string{"pod-template-hash": "1"}
	}}, changes...)...)
	f.source.pods, f.source.cpu[name] = append(f.source.pods, p), f.source.cpu["web-1-x"]
	now := pod.From(p)
	if err := f.of.Know([]*pod.Pod{now}, nil); err != nil {
		t.Fatal(err)
	}
	f.podChanged(nil, now)
}

// removePods removes pods from a place to another one in the order in which they were added.
func (f *fixture) removePods(t *testing.T, from, to int) {
	t.Helper()
	for _, p := range f.source.pods[from:to] {
		gone := f.of.Pods("shop").Get(p.Name)
		if err := f.of.Forget(gone); err != nil {
			t.Fatal(err)
		}
		f.podChanged(gone, nil)
	}
	f.source.pods = slices.Delete(f.source.pods, from, to)
}

// plan returns the cpu that a pod gets in the end.
func (f *fixture) plan(t *testing.T, name string) int64 {
	t.Helper()
	p := f.of.Pods("shop").Get(name)
	size := p.Containers[0].Spec
	size.CPU.Request = 10 // It is raised in any case.
	s := plan.Snapshot{Pod: p.Replayed(0, size, nil), Table: f.Ratios.Table(), Now: f.Clock.Now(), Demand: f.demandOf(name), InTheEnd: true}
	s.Around.Node = f.of.Node(p)
	return f.Planner.Plan(&s).Containers[0].Desired.CPU.Request
}

// formula returns the cpu that a pod should get on a node with a share, on the baseline.
func (f *fixture) formula(t *testing.T, name string, share *headroom.Share) int64 {
	t.Helper()
	needs := f.needsOf(t, name).CPU
	return needs.Steady + int64(math.Ceil(share.Of[sizing.CPU.Index]*float64(needs.Rest)))
}

// share returns the share of the first node, and whether it is known.
func (f *fixture) share() (*headroom.Share, bool) {
	share := f.neighbors.Of("a")
	return share, share != nil
}

func TestShares(t *testing.T) {
	t.Run("nothing is shared unless so configured", func(t *testing.T) {
		f := newFixture(t, following())
		f.bursts()
		f.round(t)
		if _, known := f.share(); known || f.needsOf(t, "web-1-x").CPU.Steady != 0 {
			t.Errorf("%+v", f.needsOf(t, "web-1-x"))
		}
	})
	t.Run("a pod alone on its node gets its peak, and the formula holds", func(t *testing.T) {
		f := newFixture(t, sharingAll(policy.Apply))
		f.bursts()
		if _, known := f.demandOf("web-1-x").Share(""); known {
			t.Error("a share is known before anything was measured")
		}
		f.round(t)
		needs := f.needsOf(t, "web-1-x").CPU
		share, _ := f.share()
		if needs.Steady == 0 || needs.Rest == 0 || share == nil || share.Of[sizing.CPU.Index] != 1 || share.Rests[sizing.CPU.Index] != needs.Rest {
			t.Fatalf("%+v of %+v", share, needs)
		}
		if got, want := f.plan(t, "web-1-x"), needs.Steady+needs.Rest; got != want {
			t.Errorf("planned with %dm, want %dm", got, want)
		}
	})
	t.Run("a neighbor lowers the share, and another workload's more than a replica", func(t *testing.T) {
		f := newFixture(t, sharingAll(policy.Apply))
		f.bursts()
		f.addPod(t, "web-1-z", "web-1")
		f.round(t)
		if share, _ := f.share(); share.Of[sizing.CPU.Index] != 1 {
			t.Errorf("two replicas have their peaks together: %+v", share)
		}
		f.addPod(t, "other-1-x", "other-1")
		f.source.cpu["other-1-x"] = 100
		f.after(t, 24)
		share, _ := f.share()
		web, other := float64(2*f.needsOf(t, "web-1-x").CPU.Rest), float64(f.needsOf(t, "other-1-x").CPU.Rest)
		if of, want := share.Of[sizing.CPU.Index], math.Hypot(web, other)/(web+other); math.Abs(of-want) > 0.001 || other == 0 {
			t.Errorf("%v of %v and %v, want %v", of, web, other, want)
		}
		if got := f.plan(t, "web-1-x"); got != f.formula(t, "web-1-x", share) {
			t.Errorf("planned with %dm, want %dm", got, f.formula(t, "web-1-x", share))
		}
	})
	t.Run("pods that are paused, excluded or not owned take what they request", func(t *testing.T) {
		for name, change := range map[string]func(*corev1.Pod){
			"excluded":  podtest.Annotated("skip", "true"),
			"not owned": func(p *corev1.Pod) { p.OwnerReferences = nil },
		} {
			f := newFixture(t, sharingAll(policy.Apply))
			f.bursts()
			f.addPod(t, "web-1-z", "web-1", change)
			f.round(t)
			share, _ := f.share()
			if got := share.Available[sizing.CPU.Index]; got != 7000 || share.Rests[sizing.CPU.Index] != f.needsOf(t, "web-1-x").CPU.Rest {
				t.Errorf("%s: %+v", name, share)
			}
		}
	})
	t.Run("a pod that its node has not accepted takes nothing", func(t *testing.T) {
		// Anyone who may create pods can name their node, and request more than it has. The kubelet then refuses it.
		f := newFixture(t, sharingAll(policy.Apply))
		f.bursts()
		f.addPod(t, "web-1-z", "web-1", func(p *corev1.Pod) {
			p.OwnerReferences = nil
			p.CreationTimestamp, p.Status = metav1.NewTime(f.Clock.Now()), corev1.PodStatus{Phase: corev1.PodPending}
			p.Spec.Containers[0].Resources = podtest.Amounts{"1k", "", "1Pi", ""}.Requirements()
		})
		f.round(t)
		if !f.neighbors.Known() {
			t.Error("it is not known what the node lacks")
		}
		if lacks, _ := f.neighbors.Lacks("a"); lacks != (node.Resources{}) {
			t.Errorf("the node lacks %+v", lacks)
		}
	})
	t.Run("a tenth of the memory stays free where it is shared", func(t *testing.T) {
		f := newFixture(t, sharingAll(policy.Apply))
		f.bursts()
		f.round(t)
		share, _ := f.share()
		has := f.of.NodeNamed("a").Status.Allocatable.Memory().Value()
		if got, want := share.Available[sizing.Memory.Index], has-has/10; got != want && share.Rests[sizing.Memory.Index] > 0 {
			t.Errorf("%d of %d is available", got, has)
		}
	})
	t.Run("neighbors are planned again only once a share has moved far enough", func(t *testing.T) {
		f := newFixture(t, sharingAll(policy.Apply))
		f.bursts()
		for i := range 60 {
			name := fmt.Sprintf("w%d-1-x", i)
			f.addPod(t, name, fmt.Sprintf("w%d-1", i))
			f.source.cpu[name] = 100
		}
		f.round(t)
		again := &changes{}
		f.of.Serve(again, func(types.NamespacedName, types.UID, time.Time) *plan.Refusal { return nil })
		step := func() []string {
			again.pods = nil
			clustertest.Clock(f.of).Step(time.Second)
			f.publish(t.Context()) // Needs stay the same.
			return again.pods
		}
		if names := step(); len(names) != 0 {
			t.Errorf("nothing has changed: %v", names)
		}
		f.addPod(t, "w59-1-y", "w59-1")
		if names := step(); len(names) != 0 {
			t.Errorf("one of 62 pods came: %v", names)
		}
		f.removePods(t, 12, 62)
		if names := step(); len(names) != 12 || slices.Contains(names, "web-1-y") {
			t.Errorf("most pods have left node a: %v", names)
		}
	})
	t.Run("a pod that is created can expect what most nodes of the type give", func(t *testing.T) {
		f := newFixture(t, sharingAll(policy.Initial))
		f.bursts()
		f.round(t)
		p := f.of.Pods("shop").Get("web-1-x")
		created := podtest.Pod(podtest.Burstable, clustertest.Named("shop", "", ""))
		created.OwnerReferences[0].Name, created.OwnerReferences[0].UID = p.Controller().Name, p.Controller().UID
		of := f.NeedsOf(pod.BeingCreated(created, "", f.Clock.Now()), f.of.Owners().Chain(nil, p), f.Ratios.Table(), true)
		for _, nodeType := range []string{"n2d", "n4", "of which there is none"} {
			if share, known := of.Share(nodeType); !known || share[sizing.CPU.Index] != 1 {
				t.Errorf("%s: %v %v", nodeType, share, known)
			}
		}
	})
	t.Run("a table that is not in effect has shares of its own", func(t *testing.T) {
		f := newFixture(t, sharingAll(policy.Observe))
		f.bursts()
		f.addPod(t, "other-1-x", "other-1")
		f.round(t)
		if share, _ := f.share(); share == nil || share.Rests[sizing.CPU.Index] != 0 {
			t.Errorf("nothing is applied: %+v", share)
		}
		as, p := clustertest.Store(t, sharingAll(policy.Apply)).Table(), f.of.Pods("shop").Get("web-1-x")
		of := f.NeedsOf(p, f.of.Owners().Chain(nil, p), as, false)
		for range 2 {
			if share, known := of.Share(""); !known || share[sizing.CPU.Index] < 0.7 || share[sizing.CPU.Index] > 0.8 {
				t.Errorf("%v %v", share, known)
			}
		}
	})
	t.Run("turning it off forgets all shares", func(t *testing.T) {
		f := newFixture(t, sharingAll(policy.Apply))
		f.bursts()
		f.round(t)
		f.Ratios = clustertest.Store(t, following())
		f.of.Ratios = f.Ratios
		f.publish(t.Context())
		if _, known := f.share(); known || f.needsOf(t, "web-1-x").CPU.Steady != 0 {
			t.Errorf("%+v", f.needsOf(t, "web-1-x"))
		}
	})
}

func TestSharedMemory(t *testing.T) {
	f := newFixture(t, sharingAll(policy.Apply))
	f.bursts()
	f.round(t)
	again := &changes{}
	f.of.Serve(again, func(types.NamespacedName, types.UID, time.Time) *plan.Refusal { return nil })
	var changed []string
	f.NodeChanged = func(name string) { changed = append(changed, name) }
	in, _ := f.of.Rules()
	share, _ := f.share()
	has := share.Has[sizing.Memory.Index] // The pod is alone on its node.
	for _, tc := range []struct {
		used         int64
		again        int
		want, atMost int64
		lacks        int64
	}{
		{1 << 30, 0, 1 << 30, 1 << 30, 0},
		{1<<30 + 1, 1, 1 << 30, 1 << 30, 0},
		{3 << 29, 1, 3 << 29, 3<<29 + 1<<21, 0},
		{has, 1, 1 << 30, has + 1<<21, 0},
		{has + 1<<20, 1, 1 << 30, has + 1<<21, 1 << 20},
	} {
		again.pods, changed = nil, nil
		sample := usage.Sample{Namespace: "shop", Name: "web-1-x", Container: "app"}
		sample.At, sample.Length, sample.Resource, sample.Usage = f.Clock.Now(), time.Second, history.Memory, tc.used
		f.SignalUrgent([]usage.Sample{sample})
		if len(again.pods) != tc.again || len(changed) != tc.again {
			t.Errorf("%d bytes are in use of a request of 1Gi: planned again: %v, on nodes that changed: %v", tc.used, again.pods, changed)
		}
		got := f.Planner.Plan(f.of.Snapshot(f.of.Pods("shop").Get("web-1-x"), in))
		if has := got.Containers[0].Desired.Memory.Request; has < tc.want || has > tc.atMost {
			t.Errorf("%d bytes are in use of a request of 1Gi: it gets %d: %+v", tc.used, has, got.Reasons)
		}
		// Samples are kept to a thousandth.
		if lacks, inUse := f.neighbors.Lacks("a"); lacks.CPU != 0 || lacks.Memory < tc.lacks || lacks.Memory > tc.lacks+tc.lacks/(1<<20)*has/1000 || inUse != (tc.lacks > 0) {
			t.Errorf("%d bytes are in use: the node lacks %+v, and memory that is in use: %t; want %d", tc.used, lacks, inUse, tc.lacks)
		}
	}
	clustertest.Clock(f.of).Step(time.Hour)
	if lacks, inUse := f.neighbors.Lacks("a"); lacks != (node.Resources{}) || inUse {
		t.Errorf("what is in use is no longer known: the node lacks %+v, %t", lacks, inUse)
	}
}

// neighboring returns a fixture in which two workloads share a node, and one of them has another node for itself.
func neighboring(t *testing.T, layer *ratios.Layer, changes ...func(*corev1.Pod)) *fixture {
	t.Helper()
	f := newFixture(t, layer, changes...)
	f.bursts()
	f.addPod(t, "other-1-x", "other-1", changes...)
	f.round(t)
	return f
}

// recommended returns what lists recommend for web, and what its savings do.
func (f *fixture) recommended(t *testing.T) (item *Item, savings int64) {
	const workload = "web"
	t.Helper()
	for _, i := range f.report(t) {
		if i.Container.Workload == workload {
			item = i
		}
	}
	for saver, err := range f.Workloads(t.Context(), Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		if saver.Workload.Name == workload {
			savings = saver.Recommended.CPU
		}
	}
	if item == nil {
		t.Fatalf("no item of %s", workload)
	}
	return item, savings
}

func TestSharesShown(t *testing.T) {
	t.Run("lists and savings add up what plans give each pod", func(t *testing.T) {
		f := neighboring(t, sharingAll(policy.Apply))
		here, _ := f.share()
		x, y := f.formula(t, "web-1-x", here), f.plan(t, "web-1-y") // For now, too little history keeps x from being lowered.
		item, savings := f.recommended(t)
		if item.Recommended.CPU != x+y || savings != x+y {
			t.Errorf("lists add up %dm, and savings %dm; want %dm + %dm", item.Recommended.CPU, savings, x, y)
		}
		if unshared := f.target(t, "").CPU; item.Recommended.CPU >= unshared+unshared*4/5 {
			t.Errorf("lists add up %dm, as without sharing", item.Recommended.CPU)
		}
		for _, on := range item.On {
			if want := map[string]int64{"n2d": x, "n4": y}[on.NodeType]; on.Size.CPU != want {
				t.Errorf("%dm on %s, want %dm", on.Size.CPU, on.NodeType, want)
			}
		}
		mean := (here.Of[sizing.CPU.Index] + 1) / 2 // On the other node, it is alone.
		needs, of := f.needsOf(t, "web-1-x").CPU, item.Recommendation
		if want := needs.Steady + sizing.Share(needs.Rest, mean); of.Target.CPU != want || of.Uncapped.CPU != want || of.Lower.CPU != needs.Lower || of.Upper.CPU != needs.Upper {
			t.Errorf("on the baseline, %dm is shown, without bounds %dm, from %dm to %dm; want %dm, from %dm to %dm", of.Target.CPU, of.Uncapped.CPU, of.Lower.CPU, of.Upper.CPU, want, needs.Lower, needs.Upper)
		}
		if got, shares := item.Shared(sizing.CPU); !shares || got.Steady != needs.Steady || got.Peak != needs.Steady+needs.Rest || got.Unshared != needs.Target || math.Abs(got.Share-mean) > 1e-9 {
			t.Errorf("%t, %+v; want the share %v of %+v", shares, got, mean, needs)
		}
		f.tune(t, "web", deployment, policy.Apply, "")
		f.publish(t.Context())
		if got := f.found(t, "web").Containers[0]; got.Target[sizing.CPU.Index] != of.Target.CPU {
			t.Errorf("a VerticalPodAutoscaler says %+v, want %+v", got, of.Target)
		}
	})
	t.Run("what is only observed is shown as if it were applied", func(t *testing.T) {
		applied, savings := neighboring(t, sharingAll(policy.Apply)).recommended(t)
		for _, from := range []string{policy.FromUsage, policy.FromAuthor} {
			f := neighboring(t, sharedBy(policy.Observe, func(s *policy.Settings) { s.Demand.From = from }))
			if got, saves := f.recommended(t); got.Recommended != applied.Recommended || saves != savings || got.Recommendation.Target != applied.Recommendation.Target {
				t.Errorf("%s: %+v, and savings of %d; want %+v and %d", from, got.Recommended, saves, applied.Recommended, savings)
			}
			if here, _ := f.share(); here.Rests[sizing.CPU.Index] != 0 {
				t.Errorf("%s: pods share %+v", from, here)
			}
			if would := f.WouldShare("a"); would == nil || would.Of[sizing.CPU.Index] >= 1 || would.Of[sizing.CPU.Index] <= 0 || f.WouldShare("a") != would {
				t.Errorf("%s: they would share %+v", from, would)
			}
			if would := f.WouldShare("gone"); would != nil {
				t.Errorf("%s: of a node that does not exist, they would share %+v", from, would)
			}
		}
	})
	t.Run("what is sized when it is created is shown as new pods are sized", func(t *testing.T) {
		f := neighboring(t, sharingAll(policy.Initial))
		item, _ := f.recommended(t)
		if of, shares := item.Shared(sizing.CPU); !shares || of.Share != 1 || item.Recommendation.Target.CPU != of.Peak {
			t.Errorf("%t, %+v: no pod shares yet", shares, of)
		}
	})
	t.Run("memory is shared only where that is set", func(t *testing.T) {
		for _, set := range []bool{false, true} {
			item, _ := neighboring(t, sharedBy(policy.Apply, func(s *policy.Settings) { s.Demand.Memory.Share = set })).recommended(t)
			if _, shares := item.Shared(sizing.Memory); shares != set {
				t.Errorf("set to %t: %t, %+v", set, shares, item.Recommendation)
			}
		}
	})
	t.Run("Guaranteed pods share nothing", func(t *testing.T) {
		f := neighboring(t, sharingAll(policy.Apply), func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources, p.Status.QOSClass = podtest.Amounts{"1", "1", "1Gi", "1Gi"}.Requirements(), corev1.PodQOSGuaranteed
		})
		item, savings := f.recommended(t)
		x, y := f.target(t, "").CPU, (f.target(t, "").CPU*4+4)/5
		if _, shares := item.Shared(sizing.CPU); shares || item.Recommended.CPU != x+y || savings != x+y {
			t.Errorf("it shares: %t; lists add up %dm, and savings %dm; want %dm + %dm", shares, item.Recommended.CPU, savings, x, y)
		}
	})
	t.Run("an unknown share is the peak", func(t *testing.T) {
		f := neighboring(t, sharingAll(policy.Apply), podtest.Annotated("skip", "true")) // Nobody shares.
		item, _ := f.recommended(t)
		needs := f.needsOf(t, "web-1-x").CPU
		if peak := needs.Steady + needs.Rest; item.Recommendation.Target.CPU != peak || item.Recommended.CPU < peak+peak*4/5 {
			t.Errorf("%+v, and in total %+v; want the peak of %dm", item.Recommendation.Target, item.Recommended, peak)
		}
		f.deleteAll(t)
		f.publish(t.Context())
		explained := f.explain(t, web)
		if of, shares := explained[0].Shared(sizing.CPU); !shares || of.Share != 1 {
			t.Errorf("without pods: %t, %+v", shares, of)
		}
	})
	t.Run("no more is shown than plans give: bounds, and a multiple of what the author wrote", func(t *testing.T) {
		f := neighboring(t, sharedBy(policy.Apply, func(s *policy.Settings) { s.Bounds.CPU.Max = 300 }))
		item, savings := f.recommended(t)
		if x, y := f.plan(t, "web-1-x"), f.plan(t, "web-1-y"); item.Recommended.CPU != x+y || savings != x+y || x > 300 || y > 300 {
			t.Errorf("lists add up %dm, and savings %dm; want %dm + %dm", item.Recommended.CPU, savings, x, y)
		}
	})
}
