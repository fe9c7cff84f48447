package demand

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/usage"
)

// killedOnce shows a kill at a second.
func killedOnce(second int) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", LastTerminationState: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled", FinishedAt: metav1.NewTime(podtest.At(second))},
		}}}
	}
}

// reverted records reverts of the memory of app.
func reverted(second, times int, harm contract.Harm) func(*corev1.Pod) {
	return podtest.Annotated(strings.TrimPrefix(contract.Reverts, contract.Prefix), pod.RevertsText([]pod.Revert{{
		At: podtest.At(second), Container: "app", Measure: sizing.Memory, Hurt: sizing.Amount{Request: 1 << 28}, Back: sizing.Amount{Request: 1 << 30}, Times: times, Harm: harm,
	}}))
}

func TestHarm(t *testing.T) {
	author, half := resizedFrom(podtest.Amounts{"1", "", "1Gi", "1Gi"}), podtest.Amounts{"1", "", "512Mi", "512Mi"}
	for _, tc := range []struct {
		name           string
		pod            *corev1.Pod
		reverts, kills int
	}{
		{"nothing happened", podtest.Pod(half, author), 0, 0},
		{"a kill after a resize that lowered memory", podtest.Pod(half, author, killedOnce(60)), 0, 1},
		{"a kill before the resize", podtest.Pod(half, author, killedOnce(5)), 0, 0},
		{"a kill of a pod that was never resized", podtest.Pod(half, podtest.AsCreated, killedOnce(60)), 0, 0},
		{"a kill with more memory than the author wrote", podtest.Pod(podtest.Amounts{"1", "", "2Gi", "2Gi"}, author, killedOnce(60)), 0, 0},
		{"a kill with less cpu only", podtest.Pod(podtest.Amounts{"500m", "", "1Gi", "1Gi"}, author, killedOnce(60)), 0, 0},
		{"a kill that was reverted", podtest.Pod(podtest.Amounts{"1", "", "1Gi", "1Gi"}, author, killedOnce(9), reverted(9, 1, contract.OOMKilled)), 1, 1},
		{"a kill whose revert is recorded but not made yet", podtest.Pod(half, author, killedOnce(60), reverted(61, 1, contract.OOMKilled)), 1, 1},
		{"a kill after a revert for a different reason", podtest.Pod(podtest.Amounts{"1", "", "1Gi", "1Gi"}, author, killedOnce(60), reverted(9, 2, contract.Throttled)), 2, 0},
		{"more reverts than anybody makes", podtest.Pod(half, author, reverted(9, 1<<40, contract.Throttled)), 5, 0},
		{"a negative number of reverts", podtest.Pod(half, author, reverted(9, -7, contract.Throttled)), 1, 0},
		{"a pod that ended because of it", podtest.Pod(half, author, killedOnce(60), func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), 0, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ofWeb("web-1-x", "a")(tc.pod)
			all := saversOf(t, clustertest.Published(), Selection{}, tc.pod)
			if len(all) != 1 || all[0].Reverts != tc.reverts || all[0].Kills != tc.kills {
				t.Errorf("%+v", all)
			}
		})
	}
}

func TestAccount(t *testing.T) {
	layer := clustertest.Published()
	layer.Cluster = keys.Some(policy.Cluster{Prices: &policy.Prices{Currency: "USD", Default: policy.Price{CPU: 0.5, Memory: 0.25}}})
	author, half := resizedFrom(podtest.Amounts{"1", "", "1Gi", "1Gi"}), podtest.Amounts{"500m", "", "512Mi", "512Mi"}
	f := newFixture(t, layer, author, func(p *corev1.Pod) { p.Spec.Containers[0].Resources = half.Requirements() })
	registry := prometheus.NewRegistry()
	f.Register(registry)
	has := func(want string, names ...string) {
		t.Helper()
		if err := testutil.GatherAndCompare(registry, strings.NewReader(want), names...); err != nil {
			t.Error(err)
		}
	}
	has("", "workload_resizer_savings_cores", "workload_resizer_savings_bytes", "workload_resizer_savings_hourly_cost", "workload_resizer_oom_kills_total")
	f.publish(t.Context())
	has(`
# HELP workload_resizer_savings_bytes The same as workload_resizer_savings_cores, for bytes of memory.
# TYPE workload_resizer_savings_bytes gauge
workload_resizer_savings_bytes{amount="authored"} 2.147483648e+09
workload_resizer_savings_bytes{amount="measured"} 0
workload_resizer_savings_bytes{amount="requested"} 1.073741824e+09
workload_resizer_savings_bytes{amount="used"} 0
# HELP workload_resizer_savings_hourly_cost What these amounts cost an hour, in the currency of the prices in the configuration; absent without prices.
# TYPE workload_resizer_savings_hourly_cost gauge
workload_resizer_savings_hourly_cost{amount="authored"} 1.5
workload_resizer_savings_hourly_cost{amount="requested"} 0.75
workload_resizer_savings_hourly_cost{amount="used"} 0
# HELP workload_resizer_oom_kills_total OOM kills that a resize may have caused: of containers with less memory than their authors wrote. Counted every minute, on every replica.
# TYPE workload_resizer_oom_kills_total counter
workload_resizer_oom_kills_total 0
`, "workload_resizer_savings_bytes", "workload_resizer_savings_hourly_cost", "workload_resizer_oom_kills_total")
	f.round(t)
	if s := f.account.Load(); s.Unknown != 0 || s.Measured != mebibytes(1000, 1024) || s.Used.CPU < 1800*97/100 || s.Used.CPU > 1800*103/100 {
		t.Errorf("%+v", s)
	}
	nodes := f.of.Nodes()
	for i, step := range []struct {
		second int
		want   int64
	}{{60, 1}, {60, 1}, {90, 2}} {
		var pods []*corev1.Pod
		for _, p := range f.source.pods {
			if p = p.DeepCopy(); p.Name == "web-1-x" {
				killedOnce(step.second)(p)
			}
			pods = append(pods, p)
		}
		f.Cluster = clustertest.Of(t, pods, nodes)
		f.publish(t.Context())
		if got := f.account.Load().kills; got != step.want {
			t.Errorf("step %d: %d kills, want %d", i, got, step.want)
		}
	}
	// A new process does not count again what happened before.
	f.account.Store(nil)
	f.publish(t.Context())
	if got := f.account.Load().kills; got != 0 {
		t.Errorf("%d kills after a restart", got)
	}
	clustertest.Clock(f.of).Step(time.Minute)
	f.publish(t.Context())
	if got := f.account.Load().kills; got != 0 {
		t.Errorf("%d kills a minute later", got)
	}
}

// TestTrends counts what pods have while this process leads: from its second publication on, and never more than two intervals at a time.
func TestTrends(t *testing.T) {
	author, half := resizedFrom(podtest.Amounts{"1", "", "1Gi", "1Gi"}), podtest.Amounts{"500m", "", "512Mi", "512Mi"}
	f := newFixture(t, clustertest.Published(), author, func(p *corev1.Pod) { p.Spec.Containers[0].Resources = half.Requirements() })
	began := clustertest.Clock(f.of).Now()
	pass := func(steps int, d time.Duration) {
		for range steps {
			clustertest.Clock(f.of).Step(d)
			f.publish(t.Context())
		}
	}
	known := func() time.Duration { return f.Whole("", []time.Time{began, clustertest.Clock(f.of).Now()})[0].Known }
	f.publish(t.Context())
	pass(30, time.Minute)
	pass(1, time.Hour)
	if got := known(); (got - 32*time.Minute).Abs() > 10*time.Second {
		t.Errorf("%s are known", got)
	}
	f.leads = false
	pass(30, time.Minute)
	f.leads = true
	pass(1, time.Minute) // Another leader has counted until then.
	if got := known(); (got - 32*time.Minute).Abs() > 10*time.Second {
		t.Errorf("%s are known after another process led", got)
	}
	pass(2, time.Minute)
	if c := f.account.Load().counted; math.Abs(c.authored.CPU-34*60*2000) > 1 {
		t.Errorf("counted: %+v", c)
	}
	times := []time.Time{began, clustertest.Clock(f.of).Now()}
	whole := f.Whole("", times)[0]
	if math.Abs(whole.Pods-2) > 0.01 || math.Abs(whole.Authored.CPU-2000) > 6 || math.Abs(whole.Saved.CPU-1000) > 3 || math.Abs(whole.Nodes-2) > 0.01 || math.Abs(whole.Allocatable.CPU-16000) > 48 || whole.HadPrices() != 0 {
		t.Errorf("%+v", whole)
	}
	for _, tc := range []struct {
		of         Selection
		byWorkload bool
		want       usage.Workload
	}{
		{Selection{}, true, usage.Workload{Namespace: "shop", Kind: "Deployment", Name: "web"}},
		{Selection{}, false, usage.Workload{Namespace: "shop"}},
		{Selection{Namespace: "bank"}, false, usage.Workload{}},
		{Selection{Workloads: []usage.Workload{{Namespace: "shop", Kind: "Deployment", Name: "db"}}}, true, usage.Workload{}},
		{Selection{Visible: func(...string) ([]string, error) { return nil, nil }}, true, usage.Workload{}},
	} {
		var got []usage.Workload
		for saved, err := range f.Trends(t.Context(), tc.of, tc.byWorkload, usage.Workload{}, times) {
			if err != nil || math.Abs(saved.Authored.CPU-2000) > 6 || saved.Nodes != 0 || saved.HadPrices() != 0 {
				t.Errorf("%+v, %v", saved, err)
			}
			got = append(got, saved.Workload)
		}
		for later, err := range f.Trends(t.Context(), tc.of, tc.byWorkload, usage.Workload{Namespace: "web"}, times) {
			t.Errorf("after all: %+v, %v", later, err)
		}
		if want := []usage.Workload{tc.want}; !slices.Equal(got, want) && (len(got) > 0 || tc.want != usage.Workload{}) {
			t.Errorf("%+v: %v, want %v", tc.of, got, want)
		}
	}
}

// TestPricesOverTime checks that prices of 0 are prices.
func TestPricesOverTime(t *testing.T) {
	layer := clustertest.Published()
	layer.Cluster = keys.Some(policy.Cluster{Prices: &policy.Prices{Currency: "USD"}})
	f := newFixture(t, layer)
	began := clustertest.Clock(f.of).Now()
	for range 10 {
		f.publish(t.Context())
		clustertest.Clock(f.of).Step(time.Minute)
	}
	whole := f.Whole("", []time.Time{began, clustertest.Clock(f.of).Now()})[0]
	if whole.Pods == 0 || whole.AuthoredCost != 0 || whole.HadPrices() != 1 || math.Abs(whole.Priced-1) > 0.01 {
		t.Errorf("%+v", whole)
	}
}
