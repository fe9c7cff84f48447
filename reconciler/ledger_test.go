package reconciler

import (
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

func testMetrics() *metrics {
	return newMetrics(prometheus.NewRegistry())
}

// planFor is the plan of a pod with these requests on n4.
func planFor(t testing.TB, app amounts) *Plan {
	t.Helper()
	planner := Planner{OwnerKinds: DefaultOwnerKinds}
	return planner.Plan(alone(t, podWith(app), node("n4")))
}

func TestPausesGrowWhileTheSamePlanFails(t *testing.T) {
	l := newLedger(testMetrics())
	plan, other := planFor(t, amounts{"1", "", "", ""}), planFor(t, amounts{"2", "", "", ""})
	now, last := start, time.Duration(0)
	for i := range 20 {
		if got := l.pause(plan, now); got != 0 {
			t.Fatalf("failure %d: still to be let be for %v", i, got)
		}
		pause := l.attempted(plan, 0, now)
		if pause < last || pause > longPause || (i == 0) != (pause == firstPause) || l.pause(plan, now) != pause {
			t.Fatalf("failure %d: pause %v after %v", i, pause, last)
		}
		now, last = now.Add(pause), pause
	}
	if last != longPause {
		t.Errorf("the last pause is %v, want %v", last, longPause)
	}
	l.attempted(plan, 0, now)
	if got := l.pause(other, now); got != 0 {
		t.Errorf("another plan is let be for %v", got)
	}
	l.succeeded(other, "9", now)
	if got := l.pause(plan, now); got != 0 {
		t.Errorf("after a success, the first plan is let be for %v", got)
	}
}

func TestAPlanThatIsUndoneAgainAndAgainIsCarriedOutEverMoreSeldom(t *testing.T) {
	l := newLedger(testMetrics())
	plan := planFor(t, amounts{"1", "", "", ""})
	l.succeeded(plan, "1", start)
	if got := l.pause(plan, start); got != 0 {
		t.Errorf("after the first time, a pause of %v", got)
	}
	last := time.Duration(0)
	for range 5 {
		l.succeeded(plan, "2", start)
		if got := l.pause(plan, start); got <= last {
			t.Errorf("a pause of %v after one of %v", got, last)
		} else {
			last = got
		}
	}
}

func TestTheCacheIsStaleUntilItShowsOurWrite(t *testing.T) {
	l := newLedger(testMetrics())
	plan := planFor(t, amounts{"1", "", "", ""})
	stale := func(uid types.UID, version string, after time.Duration) bool {
		return l.stale(plan.Pod, uid, version, start.Add(after))
	}
	if stale("uid", "5", 0) {
		t.Error("stale before anything was written")
	}
	l.succeeded(plan, "100", start)
	for version, want := range map[string]bool{"99": true, "100": false, "101": false, "no number": false} {
		if got := stale("uid", version, 0); got != want {
			t.Errorf("version %s after 100: stale %v", version, got)
		}
	}
	if stale("uid", "99", trusted+time.Second) {
		t.Error("a write counts for ever")
	}
	if stale("another", "1", 0) {
		t.Error("the write counts for another pod of that name")
	}
}

func TestNewsIsWhatWasNotSaidLast(t *testing.T) {
	l := newLedger(testMetrics())
	name := types.NamespacedName{Namespace: "a", Name: "b"}
	one, two := Reason{contract.UnknownNodeType, "x"}, Reason{contract.UnknownNodeType, "y"}
	for i, tc := range []struct {
		uid  types.UID
		said Reason
		want bool
	}{{"1", one, true}, {"1", one, false}, {"1", two, true}, {"1", one, true}, {"2", one, true}} {
		if got := l.news(name, tc.uid, tc.said); got != tc.want {
			t.Errorf("%d: news %v", i, got)
		}
	}
}

func TestPodsAreCountedByWhatIsDecidedOfThem(t *testing.T) {
	m := testMetrics()
	l := newLedger(m)
	count := func(decision Decision, reason contract.Reason) float64 {
		return testutil.ToFloat64(m.pods.WithLabelValues(decision.String(), string(reason)))
	}
	planner := Planner{OwnerKinds: DefaultOwnerKinds}
	p := podWith(amounts{"1", "", "", ""})
	l.planned(planner.Plan(alone(t, p, node("n4"))), rules{}, difference{}, time.Time{})
	l.planned(planner.Plan(alone(t, p, node("n4"))), rules{}, difference{}, time.Time{})
	if got := count(Resize, ""); got != 1 {
		t.Errorf("%v pods to resize, want 1", got)
	}
	l.planned(planner.Plan(alone(t, p, nil)), rules{}, difference{}, time.Time{})
	if resize, skip := count(Resize, ""), count(Skip, contract.NodeNotFound); resize != 0 || skip != 1 {
		t.Errorf("%v to resize and %v whose node is not known, want 0 and 1", resize, skip)
	}
	l.forget(types.NamespacedName{Namespace: p.Namespace, Name: p.Name})
	if got := count(Skip, contract.NodeNotFound); got != 0 {
		t.Errorf("%v pods after the last is gone", got)
	}
}

// A process that becomes the leader may be at a pod already.
func TestAPodThatWaitsForItsFirstSizesIsCountedThoughTheLeaderChanges(t *testing.T) {
	m := testMetrics()
	l := newLedger(m)
	plan := planFor(t, amounts{"1", "", "", ""})
	l.planned(plan, rules{}, difference{}, start)
	l.beginAnew()
	l.succeeded(plan, "1", start.Add(time.Second))
	var seen dto.Metric
	if err := m.settling.Write(&seen); err != nil || seen.GetHistogram().GetSampleCount() != 1 || seen.GetHistogram().GetSampleSum() != 1 {
		t.Errorf("settled: %v, %v", &seen, err)
	}
}

func TestARestoreThatWaitsForRoomIsQueuedByRoom(t *testing.T) {
	second := func(p *corev1.Pod) {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "second", Resources: amounts{"900m", "", "", ""}.Requirements()})
	}
	theirs := resizeBy("they", 8, contract.CPURequest)
	theirs.FieldsV1 = metav1.NewFieldsV1(`{"f:spec":{"f:containers":{` + amountFields("second", contract.CPURequest) + `}}}`)
	p := podWith(amounts{"800m", "", "", ""}, second, managedBy(asMade, resizeOf(5, "app"), theirs, managed(contract.FieldManager, "", 6, contract.AppliedAt, contract.OriginalPrefix+"cpu.app")),
		annotated("original-cpu.app", "1", "original-cpu.second", "1", "applied-instance-type", "n4"))
	n := node("n4")
	n.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("1750m"), "memory": resource.MustParse("8Gi")}
	s := alone(t, p, n)
	s.Restore = true
	plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
	if plan.Decision != Skip || !slices.Contains(reasonsOf(plan), contract.NodeCapacity) {
		t.Fatalf("%v %v", plan.Decision, plan.Reasons)
	}
	r := ruled(t)
	in, _ := r.rules()
	r.ledger.planned(plan, in, difference{}, start)
	if held := r.ledger.held("node", contract.NodeCapacity); len(held) != 1 {
		t.Errorf("%d pods wait for room; the restore said %v", len(held), plan.Reasons)
	}
}
