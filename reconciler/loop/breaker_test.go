package loop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// opener keeps the breakers that are opened, unless it fails.
type opener struct {
	clustertest.NoHolds
	mu    sync.Mutex
	holds []hold.Hold
	// fails is how often it fails first; tried counts all attempts.
	fails, tried int
	// refuses is a scope whose breaker cannot be opened.
	refuses string
}

func (o *opener) Ready() (*hold.Table, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return hold.NewTable(o.holds), nil
}

func (o *opener) Open(_ context.Context, scope hold.Scope, reason string, _ time.Time) (bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.tried++; o.tried <= o.fails || scope.String() == o.refuses {
		return false, errors.New("no")
	}
	o.holds = append(o.holds, hold.Hold{Kind: hold.Breaker, Scope: scope, Reason: reason})
	return true, nil
}

// attempts returns how often Open was called.
func (o *opener) attempts() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.tried
}

// opened returns the scopes of the breakers.
func (o *opener) opened() []string {
	table, _ := o.Ready()
	var scopes []string
	for _, h := range table.All() {
		scopes = append(scopes, h.Scope.String())
	}
	return scopes
}

// reverted is a pod of a StatefulSet that was resized at second 10, and reverted at second 20 or not.
func reverted(set string, n int, isReverted bool) *corev1.Pod {
	p := podtest.Pod(podtest.Amounts{"1", "1", "1Gi", "1Gi"}, clustertest.Named("shop", fmt.Sprint(set, "-", n), "n4"),
		podtest.Annotated("original-cpu.app", "1", "original-memory.app", "1Gi", "applied-instance-type", "n4", "applied-at", podtest.At(10).Format(time.RFC3339)),
		podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(10, "app"), podtest.Managed(contract.FieldManager, "", 20, contract.AppliedAt, contract.Reverts, contract.OriginalPrefix+"cpu.app")),
		func(p *corev1.Pod) { p.OwnerReferences[0].Kind, p.OwnerReferences[0].Name = "StatefulSet", set })
	if isReverted {
		podtest.Annotated("reverted", `[{"at":"`+podtest.At(20).Format(time.RFC3339)+`","container":"app","resource":"cpu","hurt":"800m/800m","back":"1/1","times":1,"harm":"Restarts","message":""}]`)(p)
	}
	return p
}

// hurt returns a loop over workloads with three pods each, which were reverted in the first of them. They are
// in each of the namespaces, or in shop.
func hurt(t *testing.T, reverts, workloads int, namespaces ...string) (*Loop, *opener) {
	t.Helper()
	if len(namespaces) == 0 {
		namespaces = []string{"shop"}
	}
	var pods []*corev1.Pod
	for _, namespace := range namespaces {
		for w := range workloads {
			for n := range 3 {
				of := reverted(fmt.Sprintf("web%03d", w), n, w < reverts)
				of.Namespace, of.UID = namespace, types.UID(namespace)+of.UID
				pods = append(pods, of)
			}
		}
	}
	l := filled(t, pods, []*corev1.Node{clustertest.Node("n4", "n4", "640")})
	clustertest.Clock(l.Cluster).SetTime(podtest.At(60))
	holds := &opener{}
	l.Holds, l.Cluster.Holds = holds, holds
	return l, holds
}

func mustRules(t *testing.T, l *Loop) cluster.Rules {
	t.Helper()
	rules, known := l.Cluster.Rules()
	if !known {
		t.Fatal("the rules are not known")
	}
	return rules
}

func (l *Loop) mustOpen(t *testing.T) {
	t.Helper()
	table, err := l.Holds.Ready()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.openDue(t.Context(), table); err != nil {
		t.Error(err)
	}
}

func TestBreakers(t *testing.T) {
	t.Run("opens the breakers of workloads", func(t *testing.T) {
		l, holds := hurt(t, 2, 100)
		l.mustOpen(t)
		l.mustOpen(t)
		if diff := cmp.Diff([]string{"StatefulSet shop/web000", "StatefulSet shop/web001"}, holds.opened()); diff != "" || holds.tried != 2 {
			t.Error(holds.tried, diff)
		}
		if want := "3 of the last 3 resizes were reverted: web000-"; !strings.HasPrefix(holds.holds[0].Reason, want) {
			t.Errorf("the reason is %q", holds.holds[0].Reason)
		}
	})
	t.Run("opens the breaker of a namespace", func(t *testing.T) {
		l, holds := hurt(t, 5, 99)
		l.mustOpen(t)
		if got := holds.opened(); len(got) != 6 || got[0] != "namespace shop" {
			t.Errorf("opened %q", got)
		}
	})
	t.Run("opens the breaker of the cluster", func(t *testing.T) {
		l, holds := hurt(t, 3, 9, "shop", "bank")
		l.mustOpen(t)
		if got := holds.opened(); len(got) != 7 || got[0] != "all pods" {
			t.Errorf("opened %q", got)
		}
	})
	t.Run("counts all workloads, even if those with reverts are processed first", func(t *testing.T) {
		l, holds := hurt(t, 5, 100)
		for w := range 5 {
			l.process(t.Context(), l.Cluster.Pods("shop").Get(fmt.Sprintf("web%03d-0", w)).NamespacedName())
		}
		select {
		case <-l.breakers.due:
		default:
			t.Error("a revert is not checked")
		}
		l.mustOpen(t)
		if got := holds.opened(); len(got) != 5 {
			t.Errorf("opened %q", got)
		}
	})
	t.Run("leaves out pods whose guard says so", func(t *testing.T) {
		for _, name := range []string{"guard.breaker", "guard.enabled"} {
			l, holds := hurt(t, 5, 5)
			l.countAll()
			layer := clustertest.Published()
			layer.Settings = keys.Some(policy.Settings{}, name).Over(layer.Settings)
			l.Cluster.Ratios = clustertest.Store(t, layer)
			l.mustOpen(t)
			if got := holds.opened(); len(got) > 0 {
				t.Errorf("%s: opened %q", name, got)
			}
		}
	})
	t.Run("does not open them again for what happened before they were reset", func(t *testing.T) {
		l, holds := hurt(t, 5, 5)
		for w := range 5 {
			holds.holds = append(holds.holds, hold.Hold{Kind: hold.Breaker, Scope: hold.Scope{Namespace: "shop", Workload: workload.Workload{Kind: "StatefulSet", Name: fmt.Sprintf("web%03d", w)}}, Reset: podtest.At(30)})
		}
		holds.holds = append(holds.holds, hold.Hold{Kind: hold.Breaker, Scope: hold.Scope{Namespace: "shop"}, Reset: podtest.At(30)})
		if l.mustOpen(t); holds.tried > 0 {
			t.Errorf("opened %q", holds.opened())
		}
	})
	t.Run("opens the others if one cannot be opened", func(t *testing.T) {
		l, holds := hurt(t, 2, 2)
		holds.refuses = "StatefulSet shop/web000"
		table, _ := holds.Ready()
		if err := l.openDue(t.Context(), table); err == nil {
			t.Error("no error")
		}
		if diff := cmp.Diff([]string{"StatefulSet shop/web001"}, holds.opened()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("opens none for an owner that cannot exist", func(t *testing.T) {
		l, holds := hurt(t, 0, 0)
		for n := range 3 {
			of := pod.From(reverted("a/b", n, true))
			l.count(of, []workload.Workload{{Kind: "StatefulSet", Name: "a/b"}}, &mustRules(t, l).Table.Profile(of).Guard)
		}
		if l.mustOpen(t); holds.tried > 0 {
			t.Errorf("opened %q", holds.opened())
		}
	})
	t.Run("forgets what happened longer ago than resets are remembered", func(t *testing.T) {
		l, holds := hurt(t, 1, 1)
		clustertest.Clock(l.Cluster).SetTime(podtest.At(20).Add(hold.ResetKept))
		if l.mustOpen(t); holds.tried > 0 {
			t.Errorf("opened %q", holds.opened())
		}
	})
	t.Run("knows whether a breaker still has pods", func(t *testing.T) {
		l, _ := hurt(t, 1, 2)
		for scope, want := range map[hold.Scope]bool{
			{Namespace: "shop"}: true, {Namespace: "bank"}: false,
			{Namespace: "shop", Workload: workload.Workload{Kind: "StatefulSet", Name: "web001"}}: true,
			{Namespace: "shop", Workload: workload.Workload{Kind: "StatefulSet", Name: "web002"}}: false,
			{Namespace: "bank", Workload: workload.Workload{Kind: "StatefulSet", Name: "web001"}}: false,
		} {
			if got := l.exists(scope); got != want {
				t.Errorf("%s exists: %t", scope, got)
			}
		}
	})
	t.Run("keeps the breakers of workloads while some owners cannot be read", func(t *testing.T) {
		l, _ := hurt(t, 1, 2)
		rollout := hold.Scope{Namespace: "shop", Workload: workload.Workload{Kind: "Rollout", Name: "web"}}
		if l.exists(rollout) {
			t.Error("it exists")
		}
		config := l.Cluster.Config
		config.Metrics, config.WorkloadKinds = prometheus.NewRegistry(), []schema.GroupResource{{Group: "argoproj.io", Resource: "rollouts"}}
		unread, err := cluster.New(config)
		if err != nil {
			t.Fatal(err)
		}
		l.Cluster = unread
		go unread.Owners().Run(t.Context())
		for unread.Owners().Problem() == nil && t.Context().Err() == nil {
			time.Sleep(time.Millisecond)
		}
		if !l.exists(rollout) || l.exists(hold.Scope{Namespace: "bank"}) {
			t.Error("its breaker would be reset")
		}
	})
	t.Run("drops workloads without pods", func(t *testing.T) {
		l, holds := hurt(t, 2, 2)
		l.countAll()
		for n := range 3 {
			if err := l.Cluster.Forget(l.Cluster.Pods("shop").Get(fmt.Sprint("web000-", n))); err != nil {
				t.Fatal(err)
			}
		}
		clustertest.Clock(l.Cluster).SetTime(podtest.At(7200))
		l.pruneOutcomes()
		l.mustOpen(t)
		if diff := cmp.Diff([]string{"StatefulSet shop/web001"}, holds.opened()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("only the leader opens them, and tries again", onlyTheLeaderOpensBreakers)
	t.Run("shows how many are open", func(t *testing.T) {
		l, holds := hurt(t, 5, 5, "shop", "bank")
		shows := func(ofCluster, ofNamespaces, ofWorkloads int) {
			t.Helper()
			want := fmt.Sprintf(`
# HELP workload_resizer_open_breakers Breakers that are open, by scope (cluster, namespace, workload): no pod is sized there until someone resets them.
# TYPE workload_resizer_open_breakers gauge
workload_resizer_open_breakers{scope="cluster"} %d
workload_resizer_open_breakers{scope="namespace"} %d
workload_resizer_open_breakers{scope="workload"} %d
`, ofCluster, ofNamespaces, ofWorkloads)
			if err := testutil.GatherAndCompare(l.Metrics.(prometheus.Gatherer), strings.NewReader(want), "workload_resizer_open_breakers"); err != nil {
				t.Error(err)
			}
		}
		shows(0, 0, 0)
		l.mustOpen(t)
		shows(1, 2, 10)
		holds.holds = append(holds.holds, hold.Hold{Kind: hold.Pause})
		shows(1, 2, 10)
	})
}

// elected is a Leader that does not lead until it is elected.
type elected struct{ leads atomic.Bool }

func (e *elected) Leading() bool { return e.leads.Load() }

func (*elected) Watch() <-chan struct{} { return nil }

func onlyTheLeaderOpensBreakers(t *testing.T) {
	l, holds := hurt(t, 1, 1)
	holds.fails = 2
	leader := &elected{}
	l.Leader = leader
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { l.openBreakers(ctx) })
	defer running.Wait()
	defer cancel()
	l.process(ctx, l.Cluster.Pods("shop").Get("web000-0").NamespacedName())
	localcluster.Eventually(t, "the follower to check", func() error {
		if len(l.breakers.due) > 0 {
			return errors.New("it has not")
		}
		return nil
	})
	leader.leads.Store(true)
	l.leaderChanged()
	localcluster.Eventually(t, "the leader to open the breaker", func() error {
		clustertest.Clock(l.Cluster).Step(openAgainAfter)
		if opened := holds.opened(); len(opened) != 1 || holds.attempts() != 3 {
			return fmt.Errorf("opened %q in %d attempts", opened, holds.attempts())
		}
		return nil
	})
}

// opening lets a loop open breakers until done returns nil.
func opening(t *testing.T, l *Loop, what string, done func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { l.openBreakers(ctx) })
	localcluster.Eventually(t, what, done)
	cancel()
	running.Wait()
}

func TestOpenBreakers(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Loop)
		tried  int
	}{
		"the leader":            {func(*Loop) {}, 1},
		"another replica":       {func(l *Loop) { l.Leader = following(true) }, 0},
		"a leader in a dry run": {func(l *Loop) { l.DryRun = true }, 0},
	} {
		t.Run(name+fmt.Sprintf(" opens %d", tc.tried), func(t *testing.T) {
			l, holds := hurt(t, 1, 1)
			tc.change(l)
			l.breakers.check()
			opening(t, l, "a check to begin", func() error {
				if len(l.breakers.due) > 0 {
					return errors.New("it has not")
				}
				return nil
			})
			if holds.attempts() != tc.tried {
				t.Errorf("%d attempts to open one", holds.attempts())
			}
		})
	}
	t.Run("workloads without pods are dropped from time to time", func(t *testing.T) {
		l, _ := hurt(t, 1, 1)
		l.countAll()
		for n := range 3 {
			if err := l.Cluster.Forget(l.Cluster.Pods("shop").Get(fmt.Sprint("web000-", n))); err != nil {
				t.Fatal(err)
			}
		}
		clustertest.Clock(l.Cluster).SetTime(podtest.At(7200))
		opening(t, l, "the outcomes to be dropped", func() error {
			clustertest.Clock(l.Cluster).Step(pruneEvery)
			l.breakers.mu.Lock()
			defer l.breakers.mu.Unlock()
			if trips := l.breakers.outcomes.Trips(podtest.At(60), func(workload.Group) time.Time { return time.Time{} }); len(trips) > 0 {
				return fmt.Errorf("%v", trips)
			}
			return nil
		})
	})
	t.Run("a rollout does not start over", func(t *testing.T) {
		var pods []*corev1.Pod
		for n := range 3 {
			of := reverted("web", n, true)
			of.OwnerReferences[0].Kind, of.OwnerReferences[0].Name = "ReplicaSet", fmt.Sprint("web-", n)
			of.Labels = map[string]string{"pod-template-hash": fmt.Sprint(n)}
			pods = append(pods, of)
		}
		l := filled(t, pods, []*corev1.Node{clustertest.Node("n4", "n4", "640")})
		clustertest.Clock(l.Cluster).SetTime(podtest.At(60))
		holds := &opener{}
		l.Holds, l.Cluster.Holds = holds, holds
		l.mustOpen(t)
		if diff := cmp.Diff([]string{"Deployment shop/web"}, holds.opened()); diff != "" {
			t.Error(diff)
		}
	})
}
