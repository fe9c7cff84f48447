package demand

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

var (
	web = usage.Workload{Namespace: "shop", Kind: "Deployment", Name: "web"}
	app = history.Container{Namespace: "shop", Kind: "Deployment", Workload: "web", Name: "app"}
)

// steady is a source of containers that use a core, or what the pod's name says.
type steady struct {
	pods []*corev1.Pod
	cpu  map[string]int64
	// burst reports whether they use ten times as much in the minute that ends at a time; nil if they never do.
	burst func(time.Time) bool
	err   error
}

func (s *steady) Name() string { return "steady" }

func (s *steady) Read(_ context.Context, since, until time.Time, observe func(usage.Sample)) error {
	for _, p := range s.pods {
		for at := since.Truncate(time.Minute).Add(time.Minute); !at.After(until); at = at.Add(time.Minute) {
			sample := usage.Sample{Namespace: p.Namespace, Name: p.Name, Container: "app"}
			sample.At, sample.Length, sample.Resource, sample.Usage = at, time.Minute, history.CPU, s.cpu[p.Name]
			if s.burst != nil && s.burst(at) {
				sample.Usage *= 10
			}
			observe(sample)
			sample.Resource, sample.Usage = history.Memory, 100<<20
			observe(sample)
		}
	}
	return s.err
}

// fixture is a Deployment web with a pod on a n2d and one on a n4, which is 1.25 times as fast.
type fixture struct {
	*Demands
	source *steady
	leads  bool
	of     *cluster.Cluster
}

func newFixture(t *testing.T, layer *ratios.Layer, changes ...func(*corev1.Pod)) *fixture {
	var pods []*corev1.Pod
	for node, name := range map[string]string{"a": "web-1-x", "b": "web-1-y"} {
		all := append([]func(*corev1.Pod){clustertest.Named("shop", name, node), func(p *corev1.Pod) {
			p.OwnerReferences[0].Name, p.CreationTimestamp = "web-1", metav1.NewTime(podtest.Start.Add(-24*time.Hour))
			p.Labels = map[string]string{"app": "web", "pod-template-hash": "1"}
		}}, changes...)
		pods = append(pods, podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, all...))
	}
	f := &fixture{leads: true, source: &steady{pods: pods, cpu: map[string]int64{"web-1-x": 1000, "web-1-y": 800}}}
	f.of = clustertest.Of(t, pods, []*corev1.Node{clustertest.Node("a", "n2d", "8"), clustertest.Node("b", "n4", "8")})
	f.of.Ratios = clustertest.Store(t, layer)
	f.Demands = New(Config{
		Cluster: f.of, Ratios: f.of.Ratios, Planner: f.of.Planner, Leads: func() bool { return f.leads }, Clock: clustertest.Clock(f.of),
		Usage: Usage{Sources: []Source{{Source: f.source, Interval: time.Minute, Backfill: 10 * time.Hour}}},
	})
	f.of.Hear(f.Signals, f.NeedsOf)
	return f
}

// round reads the source and publishes.
func (f *fixture) round(t *testing.T) {
	t.Helper()
	f.readOnce(t.Context(), f.sources[0])
	f.publish(t.Context())
}

// target returns the target of the container under a rule.
func (f *fixture) target(t *testing.T, rule string) recommend.Amounts {
	t.Helper()
	r, known := f.Table().Demand(usage.Key{Container: app, Ratios: rule})
	if !known {
		t.Fatalf("no recommendation by %q", rule)
	}
	return r.Target
}

func TestDemands(t *testing.T) {
	t.Run("a workload needs the same on all node types", aWorkloadNeedsTheSameOnAllNodeTypes)
	t.Run("a changed ratio changes what is needed immediately", aChangedRatioChangesWhatIsNeededImmediately)
	t.Run("each rule of its pods has a demand of its own", eachRuleOfItsPodsHasADemandOfItsOwn)
	t.Run("the newest pod decides, in any order of pods", theNewestPodDecidesInAnyOrderOfPods)
	t.Run("a workload without pods keeps its demand", aWorkloadWithoutPodsKeepsItsDemand)
	t.Run("a workload without pods keeps the rule of its newest pod", aWorkloadWithoutPodsKeepsTheRuleOfItsNewestPod)
	t.Run("a workload without pods and history is forgotten", aWorkloadWithoutPodsAndHistoryIsForgotten)
	t.Run("a deleted pod is known for a while", aDeletedPodIsKnownForAWhile)
	t.Run("a deleted pod leaves memory, even after its node", aDeletedPodLeavesMemoryEvenAfterItsNode)
	t.Run("a kill counts once, even of a deleted pod", aKillCountsOnceEvenOfADeletedPod)
	t.Run("a pod that is created again under its name is another one", aPodThatIsCreatedAgainUnderItsNameIsAnotherOne)
	t.Run("nothing waits for the workload of a pod that has none", nothingWaitsForTheWorkloadOfAPodThatHasNone)
	t.Run("ephemeral containers have no history", ephemeralContainersHaveNoHistory)
	t.Run("each replica counts kills", eachReplicaCountsKills)
	t.Run("a source that fails is reported and read again", aSourceThatFailsIsReportedAndReadAgain)
	t.Run("a source without samples is stale unless it is optional", aSourceWithoutSamplesIsStaleUnlessItIsOptional)
}

func aWorkloadNeedsTheSameOnAllNodeTypes(t *testing.T) {
	f := newFixture(t, clustertest.Published())
	f.round(t)
	// Both use a core of a n2d. A bucket and the margin are added.
	if cpu := f.target(t, "").CPU; cpu < 1150 || cpu > 1150*106/100 {
		t.Errorf("%dm", cpu)
	}
	if s := f.Sources()[0]; s.Counted != 2*2*600 || s.Rejected != 0 || !s.Read.Equal(podtest.Start) {
		t.Errorf("%+v", s)
	}
}

func aChangedRatioChangesWhatIsNeededImmediately(t *testing.T) {
	f := newFixture(t, clustertest.Published())
	f.round(t)
	before, revision := f.target(t, ""), f.Table().Revision
	layer := clustertest.Published()
	layer.Ratios["n4"] = ratios.Ratio{CPUPerf: 2.5, MemoryPerf: 1}
	f.Ratios = clustertest.Store(t, layer)
	f.publish(t.Context())
	// 800m of a n4 is now two cores of a n2d.
	if after := f.target(t, ""); after.CPU < before.CPU*19/10 || f.Table().Revision == revision {
		t.Errorf("%v, before %v", after, before)
	}
	f.Ratios = clustertest.Store(t, clustertest.Published())
	f.publish(t.Context())
	if again := f.target(t, ""); again != before {
		t.Errorf("%v, before %v", again, before)
	}
}

// ruled returns the published ratios with a rule for the namespace shop.
func ruled() *ratios.Layer {
	layer := clustertest.Published()
	layer.Rules = []ratios.Rule{{Name: "shop", Match: policy.Criteria{Namespace: "shop"}, Baseline: "n4"}}
	return layer
}

func eachRuleOfItsPodsHasADemandOfItsOwn(t *testing.T) {
	f := newFixture(t, ruled())
	f.round(t)
	// In units of the rule's baseline, which is faster.
	if cpu := f.target(t, "shop").CPU; cpu < 920 || cpu > 920*106/100 {
		t.Errorf("%dm", cpu)
	}
	if _, known := f.Table().Demand(usage.Key{Container: app}); known || f.Table().Len() != 1 {
		t.Error("a demand by the globals, which no pod has")
	}
}

func theNewestPodDecidesInAnyOrderOfPods(t *testing.T) {
	layer := clustertest.Published()
	layer.Rules = []ratios.Rule{{Name: "canary", Match: policy.Criteria{Labels: map[string]string{"track": "canary"}}, Settings: keys.Some(policy.Settings{Demand: policy.Demand{Margin: 1}})}}
	f := newFixture(t, layer, func(p *corev1.Pod) { // Both are of the same second.
		if p.Name == "web-1-y" {
			p.Labels["track"] = "canary"
		}
	})
	f.round(t)
	want := f.target(t, "canary")
	for range 20 {
		f.publish(t.Context())
		if got := f.target(t, "canary"); got != want {
			t.Fatalf("%v, before %v", got, want)
		}
	}
}

func aWorkloadWithoutPodsKeepsItsDemand(t *testing.T) {
	f := newFixture(t, ruled())
	f.round(t)
	before := f.target(t, "shop")
	f.deleteAll(t)
	for range 3 {
		clustertest.Clock(f.of).Step(time.Hour)
		f.publish(t.Context())
	}
	if after := f.target(t, "shop"); after != before {
		t.Errorf("%v, before %v", after, before)
	}
	f.Ratios = clustertest.Store(t, clustertest.Published()) // The rule is gone, too.
	f.publish(t.Context())
	if cpu := f.target(t, "").CPU; cpu < 1150 || cpu > 1150*106/100 {
		t.Errorf("%dm", cpu)
	}
}

func aWorkloadWithoutPodsKeepsTheRuleOfItsNewestPod(t *testing.T) {
	layer := clustertest.Published()
	for margin, track := range []string{"stable", "canary"} {
		layer.Rules = append(layer.Rules, ratios.Rule{Name: track, Match: policy.Criteria{Labels: map[string]string{"track": track}}, Settings: keys.Some(policy.Settings{Demand: policy.Demand{Margin: float64(1 + margin)}})})
	}
	for _, newest := range []string{"canary", "stable"} {
		f := newFixture(t, layer, func(p *corev1.Pod) {
			p.Labels["track"] = map[string]string{"web-1-x": "canary", "web-1-y": "stable"}[p.Name]
			if p.Labels["track"] == newest {
				p.CreationTimestamp = metav1.NewTime(p.CreationTimestamp.Add(time.Second))
			}
		})
		f.round(t)
		before := f.target(t, "canary")
		f.deleteAll(t)
		f.publish(t.Context())
		if after := f.target(t, "canary"); after != before {
			t.Errorf("%s: %v, before %v", newest, after, before)
		}
	}
}

func aWorkloadWithoutPodsAndHistoryIsForgotten(t *testing.T) {
	f := newFixture(t, ruled())
	known := func() bool {
		f.publish(t.Context())
		return f.survey.Load().workloads[web] != nil
	}
	if !known() {
		t.Error("a workload with pods is not known")
	}
	f.deleteAll(t)
	clustertest.Clock(f.of).Step(remembered)
	if !known() {
		t.Error("forgotten before the samples of its last pods have arrived")
	}
	clustertest.Clock(f.of).Step(time.Second)
	if known() {
		t.Error("still known")
	}
}

// deleteAll deletes all pods.
func (f *fixture) deleteAll(t *testing.T) {
	t.Helper()
	pods := f.of.Pods("").List()
	f.Cluster = clustertest.Of(t, nil, f.of.Nodes())
	for _, p := range pods {
		f.podChanged(p, nil)
	}
}

func aDeletedPodIsKnownForAWhile(t *testing.T) {
	f := newFixture(t, clustertest.Published())
	f.deleteAll(t)
	identity, known := f.Lookup("shop", "web-1-y", "")
	if want := (usage.Identity{Workload: web, Pod: history.Pod{UID: "shop/web-1-y", NodeType: "n4"}, Created: identity.Created}); !known || identity != want {
		t.Errorf("%+v, want %+v", identity, want)
	}
	f.round(t)
	if s := f.Sources()[0]; s.Counted != 2*2*600 {
		t.Errorf("%+v", s)
	}
	clustertest.Clock(f.of).Step(remembered + time.Second)
	f.publish(t.Context())
	if identity, known := f.Lookup("shop", "web-1-y", ""); known {
		t.Errorf("still known as %+v", identity)
	}
}

func aDeletedPodLeavesMemoryEvenAfterItsNode(t *testing.T) {
	windows := func(deleteNodes bool) int {
		f := newFixture(t, clustertest.Published())
		f.round(t)
		nodes := f.of.Nodes()
		if deleteNodes {
			f.Cluster = clustertest.Of(t, f.source.pods, nil)
		}
		for _, p := range f.Cluster.Pods("").List() {
			f.podChanged(p, nil)
		}
		f.Cluster = clustertest.Of(t, nil, nodes)
		clustertest.Clock(f.of).Step(remembered + time.Second)
		f.publish(t.Context())
		windows := -1
		if err := f.store.Read(app, func(h *history.State, _ []string) error {
			windows = len(h.Windows)
			return nil
		}); err != nil {
			t.Error(err)
		}
		return windows
	}
	if got, want := windows(true), windows(false); got != 0 || want != 0 {
		t.Errorf("%d pods, and %d with the nodes", got, want)
	}
}

// killedAt shows a kill.
func killedAt(at time.Time) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", LastTerminationState: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled", FinishedAt: metav1.NewTime(at), StartedAt: metav1.NewTime(at.Add(-time.Hour))},
		}}}
		p.Spec.Containers[0].Resources = podtest.Amounts{"1", "", "1Gi", "2Gi"}.Requirements()
	}
}

func aKillCountsOnceEvenOfADeletedPod(t *testing.T) {
	f := newFixture(t, clustertest.Published(), killedAt(podtest.Start.Add(-time.Minute)))
	f.round(t)
	killed := f.target(t, "").Memory
	if killed < 2<<30 {
		t.Errorf("%d bytes after a kill at 2Gi", killed)
	}
	f.publish(t.Context())
	f.deleteAll(t)
	f.publish(t.Context())
	if again := f.target(t, "").Memory; again != killed {
		t.Errorf("%d bytes, before %d", again, killed)
	}
	f = newFixture(t, clustertest.Published(), killedAt(podtest.Start.Add(-time.Minute)))
	f.readOnce(t.Context(), f.sources[0])
	f.deleteAll(t)
	f.publish(t.Context())
	if deleted := f.target(t, "").Memory; deleted != killed {
		t.Errorf("%d bytes, of pods that exist %d", deleted, killed)
	}
}

func aPodThatIsCreatedAgainUnderItsNameIsAnotherOne(t *testing.T) {
	f := newFixture(t, clustertest.Published(), killedAt(podtest.Start.Add(-time.Minute)))
	f.round(t)
	before, _ := f.Table().Demand(usage.Key{Container: app})
	var again []*corev1.Pod
	for _, p := range f.source.pods {
		p = p.DeepCopy()
		p.UID, p.CreationTimestamp, p.Status = p.UID+"-2", metav1.NewTime(podtest.Start), corev1.PodStatus{}
		again = append(again, p)
	}
	old := f.of.Pods("").List()
	f.Cluster = clustertest.Of(t, again, f.of.Nodes())
	for _, p := range old {
		f.podChanged(p, f.Cluster.Pods(p.Namespace()).Get(p.Name))
	}
	for uid, want := range map[string]string{"": "shop/web-1-x-2", "shop/web-1-x": "shop/web-1-x", "shop/web-1-x-2": "shop/web-1-x-2"} {
		if identity, known := f.Lookup("shop", "web-1-x", uid); !known || identity.UID != want {
			t.Errorf("%q is %+v, want %s", uid, identity, want)
		}
	}
	if identity, known := f.Lookup("shop", "web-1-x", "other"); known {
		t.Errorf("%+v", identity)
	}
	f.source.pods = again
	for range 3 { // The new pods need little.
		clustertest.Clock(f.of).Step(time.Minute)
		f.round(t)
	}
	after, _ := f.Table().Demand(usage.Key{Container: app})
	if after.Target.Memory > before.Target.Memory || after.Lower.Memory >= before.Lower.Memory/2 {
		t.Errorf("%+v, before %+v", after, before)
	}
}

func nothingWaitsForTheWorkloadOfAPodThatHasNone(t *testing.T) {
	killed := killedAt(podtest.Start.Add(-time.Minute))
	for name, change := range map[string]func(*corev1.Pod){
		"bare":   func(p *corev1.Pod) { p.OwnerReferences = nil },
		"static": func(p *corev1.Pod) { p.OwnerReferences[0].Kind, p.OwnerReferences[0].Name = "Node", p.Spec.NodeName },
		"job":    func(p *corev1.Pod) { p.OwnerReferences[0].Kind, p.OwnerReferences[0].Name = "Job", "once" },
	} {
		f := newFixture(t, clustertest.Published(), change, killed)
		f.round(t)
		if s := f.Sources()[0]; s.Counted != 0 || s.Waiting != 0 || s.Rejected != 2*2*600 {
			t.Errorf("%s: %+v", name, s)
		}
		if n := f.Containers(); n != 0 || len(f.report(t)) != 0 {
			t.Errorf("%s: %d containers, %d items", name, n, len(f.report(t)))
		}
	}
}

func ephemeralContainersHaveNoHistory(t *testing.T) {
	f := newFixture(t, clustertest.Published())
	f.sources[0].Source.Source = debugged{f.source}
	f.round(t)
	if all := f.store.Containers(); len(all) != 1 || all[0] != app {
		t.Errorf("%v", all)
	}
}

// debugged also measures a debugger in each pod.
type debugged struct{ *steady }

func (d debugged) Read(ctx context.Context, since, until time.Time, observe func(usage.Sample)) error {
	return d.steady.Read(ctx, since, until, func(sample usage.Sample) {
		observe(sample)
		sample.Container = "debugger-x7k2p"
		observe(sample)
	})
}

func eachReplicaCountsKills(t *testing.T) {
	f := newFixture(t, clustertest.Published(), killedAt(podtest.Start.Add(-time.Minute)))
	f.leads = false
	f.round(t)
	if memory := f.target(t, "").Memory; memory < 2<<30 {
		t.Errorf("%d bytes after a kill at 2Gi", memory)
	}
}

func aSourceThatFailsIsReportedAndReadAgain(t *testing.T) {
	f := newFixture(t, clustertest.Published())
	f.source.err = errors.New("down")
	f.round(t)
	if s := f.Sources()[0]; s.Err == nil || !s.Read.IsZero() || s.Counted == 0 {
		t.Errorf("%+v", s)
	}
	before := f.target(t, "")
	f.source.err = nil
	f.round(t)
	if s := f.Sources()[0]; s.Err != nil || !s.Read.Equal(podtest.Start) {
		t.Errorf("%+v", s)
	}
	if after := f.target(t, ""); after.CPU != before.CPU {
		t.Errorf("%v, before %v", after, before)
	}
}

func aSourceWithoutSamplesIsStaleUnlessItIsOptional(t *testing.T) {
	for optional, want := range map[bool][2]int{false: {1, 1}, true: {0, 1}} {
		f := newFixture(t, clustertest.Published())
		f.sources[0].Optional = optional
		pods := f.source.pods
		f.source.pods = nil
		for i, want := range want {
			f.round(t)
			registry := prometheus.NewRegistry()
			f.Register(registry)
			if got, err := testutil.GatherAndCount(registry, "workload_resizer_usage_sample_timestamp_seconds"); err != nil || got != want {
				t.Errorf("optional %t, round %d: %d series, %v, want %d", optional, i, got, err, want)
			}
			f.source.pods = pods
			clustertest.Clock(f.of).Step(time.Minute)
		}
	}
}
