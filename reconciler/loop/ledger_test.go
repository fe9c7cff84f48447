package loop

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

func testMetrics() *metrics {
	return newMetrics(prometheus.NewRegistry())
}

// planFor returns the plan of a pod with these requests on n4.
func planFor(t testing.TB, app podtest.Amounts) *plan.Plan {
	t.Helper()
	planner := plan.Planner{OwnerKinds: plan.DefaultOwnerKinds}
	return planner.Plan(alone(t, podtest.Pod(app), podtest.Node("n4")))
}

func TestLedger(t *testing.T) {
	t.Run("delays grow while the same plan fails", delaysGrowWhileTheSamePlanFails)
	t.Run("a later state of the pod ends the delay of an outdated plan", aLaterStateEndsTheDelayOfAnOutdatedPlan)
	t.Run("delays start over when a resize is made", delaysStartOverWhenAResizeIsMade)
	t.Run("a pod in distress does not wait long", aPodInDistressDoesNotWaitLong)
	t.Run("delays grow while the same plan is undone", delaysGrowWhileTheSamePlanIsUndone)
	t.Run("the cache is stale until it has our write", theCacheIsStaleUntilItHasOurWrite)
	t.Run("a report is new unless it repeats the last one", aReportIsNewUnlessItRepeatsTheLastOne)
	t.Run("counts pods by decision and reason", countsPodsByDecisionAndReason)
	t.Run("measures the wait for a first size across a change of leaders", measuresTheWaitForAFirstSizeAcrossAChangeOfLeaders)
	t.Run("queues a restore that waits for room when there is room", queuesARestoreThatWaitsForRoomWhenThereIsRoom)
	t.Run("queues the pods in a namespace that wait for a disruption budget", queuesThePodsInANamespaceThatWaitForADisruptionBudget)
	t.Run("queues pods of a higher priority first", queuesPodsOfAHigherPriorityFirst)
}

var errFailed = errors.New("connection refused")

// While a watch is interrupted, every attempt conflicts.
func aLaterStateEndsTheDelayOfAnOutdatedPlan(t *testing.T) {
	l, now := newLedger(testMetrics()), podtest.Start
	p, conflict := planFor(t, podtest.Amounts{"1", "", "", ""}), apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, "web", errFailed)
	for range 8 {
		now = now.Add(l.attempted(p, conflict, plan.Reason{}, now))
	}
	if l.attempted(p, conflict, plan.Reason{}, now); l.pause(p, now) < time.Minute {
		t.Errorf("nothing has changed, and it waits only %v", l.pause(p, now))
	}
	later := *p
	later.ResourceVersion += "0"
	if got := l.pause(&later, now); got != firstPause {
		t.Errorf("with a later state, it waits %v, want %v", got, firstPause)
	}
	if got := l.pause(&later, now.Add(firstPause)); got != 0 {
		t.Errorf("with a later state, it still waits %v", got)
	}
	if l.attempted(p, errFailed, plan.Reason{}, now); l.pause(&later, now) < time.Minute {
		t.Errorf("it failed for a different reason, and waits only %v", l.pause(&later, now))
	}
}

func delaysStartOverWhenAResizeIsMade(t *testing.T) {
	l, p, now := newLedger(testMetrics()), planFor(t, podtest.Amounts{"1", "", "", ""}), podtest.Start
	for range 8 {
		now = now.Add(l.attempted(p, errFailed, plan.Reason{}, now))
	}
	if got := l.attempted(p, &actuate.UnannotatedError{Err: errFailed}, plan.Reason{}, now); got != firstPause {
		t.Errorf("after the resize, it waits %v, want %v", got, firstPause)
	}
	if got := l.attempted(p, errFailed, plan.Reason{}, now.Add(firstPause)); got != 2*firstPause {
		t.Errorf("after the next failure, it waits %v, want %v", got, 2*firstPause)
	}
}

// The API server may be back long before a delay that has doubled all the time ends.
func aPodInDistressDoesNotWaitLong(t *testing.T) {
	revert, restore := planFor(t, podtest.Amounts{"1", "", "", ""}), planFor(t, podtest.Amounts{"2", "", "", ""})
	revert.Kind = plan.Revert
	restore.Kind, restore.Emergency = plan.Restore, true
	for _, p := range []*plan.Plan{revert, restore} {
		l, now := newLedger(testMetrics()), podtest.Start
		for range 20 {
			now = now.Add(l.attempted(p, errFailed, plan.Reason{}, now))
		}
		if pause := l.attempted(p, errFailed, plan.Reason{}, now); pause != longDistress {
			t.Errorf("kind %v: it waits %v, want %v", p.Kind, pause, longDistress)
		}
		if pause := l.attempted(p, &actuate.BusyError{Err: errFailed, Asked: time.Minute}, plan.Reason{}, now.Add(time.Hour)); pause != longDistress {
			t.Errorf("kind %v: it waits %v because it was asked to wait for a minute, want %v", p.Kind, pause, longDistress)
		}
	}
}

func delaysGrowWhileTheSamePlanFails(t *testing.T) {
	l := newLedger(testMetrics())
	p, other := planFor(t, podtest.Amounts{"1", "", "", ""}), planFor(t, podtest.Amounts{"2", "", "", ""})
	now, last := podtest.Start, time.Duration(0)
	for i := range 20 {
		if got := l.pause(p, now); got != 0 {
			t.Fatalf("failure %d: the pause continues for %v", i, got)
		}
		pause := l.attempted(p, errFailed, plan.Reason{}, now)
		if pause < last || pause > longPause || (i == 0) != (pause == firstPause) || l.pause(p, now) != pause {
			t.Fatalf("failure %d: pause %v after %v", i, pause, last)
		}
		now, last = now.Add(pause), pause
	}
	if last != longPause {
		t.Errorf("the last pause is %v, want %v", last, longPause)
	}
	l.attempted(p, errFailed, plan.Reason{}, now)
	if got := l.pause(other, now); got != 0 {
		t.Errorf("another plan pauses for %v", got)
	}
	l.succeeded(other, "9", now)
	if got := l.pause(p, now); got != 0 {
		t.Errorf("after a success, the first plan pauses for %v", got)
	}
}

func delaysGrowWhileTheSamePlanIsUndone(t *testing.T) {
	l := newLedger(testMetrics())
	p := planFor(t, podtest.Amounts{"1", "", "", ""})
	l.succeeded(p, "1", podtest.Start)
	if got := l.pause(p, podtest.Start); got != 0 {
		t.Errorf("a pause of %v after the first time", got)
	}
	last := time.Duration(0)
	for range 5 {
		l.succeeded(p, "2", podtest.Start)
		if got := l.pause(p, podtest.Start); got <= last {
			t.Errorf("a pause of %v after one of %v", got, last)
		} else {
			last = got
		}
	}
}

func theCacheIsStaleUntilItHasOurWrite(t *testing.T) {
	l := newLedger(testMetrics())
	p := planFor(t, podtest.Amounts{"1", "", "", ""})
	stale := func(uid types.UID, version string, after time.Duration) bool {
		return l.stale(p.Pod, uid, version, podtest.Start.Add(after))
	}
	if stale("uid", "5", 0) {
		t.Error("stale before the first write")
	}
	l.succeeded(p, "100", podtest.Start)
	for version, want := range map[string]bool{"99": true, "100": false, "101": false, "no number": false} {
		if got := stale("uid", version, 0); got != want {
			t.Errorf("version %s after 100: stale %v", version, got)
		}
	}
	if stale("uid", "99", trusted+time.Second) {
		t.Error("a write counts forever")
	}
	if stale("another", "1", 0) {
		t.Error("the write counts for another pod of the same name")
	}
}

func aReportIsNewUnlessItRepeatsTheLastOne(t *testing.T) {
	l := newLedger(testMetrics())
	name := types.NamespacedName{Namespace: "a", Name: "b"}
	one, two := plan.Reason{Code: contract.UnknownNodeType, Message: "x"}, plan.Reason{Code: contract.UnknownNodeType, Message: "y"}
	// Of how many pods, and which is the first, changes with other pods.
	few, many := plan.Reason{Code: contract.CanaryReverted, Message: "web-0"}, plan.Reason{Code: contract.CanaryReverted, Message: "web-1"}
	full := plan.Reason{Code: contract.RevertBlocked, Message: "node n has no room: it needs 1Gi, 512Mi of 8Gi are free; not reverted: container app"}
	fuller := plan.Reason{Code: contract.RevertBlocked, Message: "node n has no room: it needs 1Gi, 256Mi of 8Gi are free; not reverted: container app"}
	for i, tc := range []struct {
		uid  types.UID
		said plan.Reason
		want bool
	}{{"1", one, true}, {"1", one, false}, {"1", two, true}, {"1", one, true}, {"2", one, true}, {"2", few, true}, {"2", many, false}, {"2", full, true}, {"2", fuller, false}, {"2", one, true}, {"2", fuller, true}} {
		if got := l.news(name, tc.uid, tc.said); got != tc.want {
			t.Errorf("%d: news %v", i, got)
		}
	}
}

func countsPodsByDecisionAndReason(t *testing.T) {
	m := testMetrics()
	l := newLedger(m)
	count := func(decision plan.Decision, reason contract.Reason) float64 {
		return testutil.ToFloat64(m.pods.WithLabelValues(decision.String(), string(reason)))
	}
	planner := plan.Planner{OwnerKinds: plan.DefaultOwnerKinds}
	p := podtest.Pod(podtest.Amounts{"1", "", "", ""})
	l.planned(planner.Plan(alone(t, p, podtest.Node("n4"))), cluster.Rules{}, difference{}, time.Time{})
	l.planned(planner.Plan(alone(t, p, podtest.Node("n4"))), cluster.Rules{}, difference{}, time.Time{})
	if got := count(plan.Resize, ""); got != 1 {
		t.Errorf("%v pods to resize, want 1", got)
	}
	l.planned(planner.Plan(alone(t, p, nil)), cluster.Rules{}, difference{}, time.Time{})
	if resize, skip := count(plan.Resize, ""), count(plan.Skip, contract.NodeNotFound); resize != 0 || skip != 1 {
		t.Errorf("%v to resize and %v with an unknown node, want 0 and 1", resize, skip)
	}
	l.forget(types.NamespacedName{Namespace: p.Namespace, Name: p.Name})
	if got := count(plan.Skip, contract.NodeNotFound); got != 0 {
		t.Errorf("%v pods after the last one was deleted", got)
	}
}

// A process that becomes the leader may be processing a pod already.
func measuresTheWaitForAFirstSizeAcrossAChangeOfLeaders(t *testing.T) {
	m := testMetrics()
	l := newLedger(m)
	p := planFor(t, podtest.Amounts{"1", "", "", ""})
	l.planned(p, cluster.Rules{}, difference{}, podtest.Start)
	l.startOver()
	l.succeeded(p, "1", podtest.Start.Add(time.Second))
	var seen dto.Metric
	if err := m.settling.Write(&seen); err != nil || seen.GetHistogram().GetSampleCount() != 1 || seen.GetHistogram().GetSampleSum() != 1 {
		t.Errorf("settled: %v, %v", &seen, err)
	}
}

func queuesARestoreThatWaitsForRoomWhenThereIsRoom(t *testing.T) {
	second := func(p *corev1.Pod) {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "second", Resources: podtest.Amounts{"900m", "", "", ""}.Requirements()})
	}
	theirs := podtest.ResizeBy("they", 8, contract.CPURequest)
	theirs.FieldsV1 = metav1.NewFieldsV1(`{"f:spec":{"f:containers":{` + podtest.AmountFields("second", contract.CPURequest) + `}}}`)
	p := podtest.Pod(podtest.Amounts{"800m", "", "", ""}, second, podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(5, "app"), theirs, podtest.Managed(contract.FieldManager, "", 6, contract.AppliedAt, contract.OriginalPrefix+"cpu.app")),
		podtest.Annotated("original-cpu.app", "1", "original-cpu.second", "1", "applied-instance-type", "n4"))
	n := podtest.Node("n4")
	n.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("1750m"), "memory": resource.MustParse("8Gi")}
	s := alone(t, p, n)
	s.Restore = true
	planned := (&plan.Planner{OwnerKinds: plan.DefaultOwnerKinds}).Plan(s)
	if planned.Decision != plan.Skip || !slices.Contains(reasonsOf(planned), contract.NodeCapacity) {
		t.Fatalf("%v %v", planned.Decision, planned.Reasons)
	}
	r := ruled(t)
	in, _ := r.Cluster.Rules()
	r.ledger.planned(planned, in, difference{}, podtest.Start)
	if held := r.ledger.held("node", contract.NodeCapacity); len(held) != 1 {
		t.Errorf("%d pods wait for room; the reasons of the restore: %v", len(held), planned.Reasons)
	}
}

func queuesThePodsInANamespaceThatWaitForADisruptionBudget(t *testing.T) {
	r := ruled(t)
	in, _ := r.Cluster.Rules()
	skipped := func(namespace, name string, reason contract.Reason) {
		p := &plan.Plan{Subject: plan.Subject{Pod: types.NamespacedName{Namespace: namespace, Name: name}}, Decision: plan.Skip, Reasons: []plan.Reason{{Code: reason}}}
		r.ledger.planned(p, in, difference{}, podtest.Start)
	}
	skipped("shop", "waits", contract.DisruptionBudget)
	skipped("shop", "other", contract.QuotaExceeded)
	skipped("bank", "waits", contract.DisruptionBudget)
	if r.Eased("shop", contract.DisruptionBudget); r.queue.Len() != 1 {
		t.Fatalf("%d pods queued", r.queue.Len())
	}
	if got, _ := r.queue.Get(); got.String() != "shop/waits" {
		t.Errorf("%s is queued", got)
	}
	var told []string
	r.BudgetEased = func(namespace string) { told = append(told, namespace) }
	r.Eased("node", contract.NodeCapacity)
	if r.Eased("bank", contract.DisruptionBudget); len(told) != 1 || told[0] != "bank" {
		t.Errorf("told that budgets permit more in %q", told)
	}
}

func queuesPodsOfAHigherPriorityFirst(t *testing.T) {
	r := ruled(t)
	in, _ := r.Cluster.Rules()
	names := []string{"least", "more", "most", "none"}
	for i, name := range names {
		of := podtest.Pod(podtest.Burstable, clustertest.Named("shop", name, "node"))
		if name != "none" {
			of.Spec.Priority = new(int32(10 * i))
		} else {
			of.Spec.Priority = new(int32(-1))
		}
		if err := r.Cluster.Know([]*pod.Pod{pod.From(of)}, nil); err != nil {
			t.Fatal(err)
		}
		p := &plan.Plan{Subject: plan.Subject{Pod: types.NamespacedName{Namespace: "shop", Name: name}, Node: "node"}, Decision: plan.Skip, Reasons: []plan.Reason{{Code: contract.NodeCapacity}}}
		r.ledger.planned(p, in, difference{}, podtest.Start)
	}
	r.Eased("node", contract.NodeCapacity)
	var got []string
	for r.queue.Len() > 0 {
		name, _ := r.queue.Get()
		got = append(got, name.Name)
	}
	if want := []string{"most", "more", "least", "none"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
