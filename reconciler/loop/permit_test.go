package loop

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// following is a Leader that leads unless it is true.
type following bool

func (f following) Leading() bool { return !bool(f) }

func (following) Watch() <-chan struct{} { return nil }

func TestPermit(t *testing.T) {
	t.Run("permits the writes that match leader and holds", permitsTheWritesThatMatchLeaderAndHolds)
	t.Run("a freeze stops every write but the record of a resize", aFreezeStopsEveryWriteButTheRecord)
	t.Run("a freeze stops writes before the watch delivers it", aFreezeStopsWritesBeforeTheWatchDeliversIt)
	t.Run("a pause stops a write that waits for its turn", aPauseStopsAWriteThatWaitsForItsTurn)
	t.Run("a new leader forgets reports and pauses", aNewLeaderForgetsReportsAndPauses)
}

func permitsTheWritesThatMatchLeaderAndHolds(t *testing.T) {
	deployment := workload.Workload{Kind: "Deployment", Name: "web"}
	pause := func(s hold.Scope) hold.Hold { return hold.Hold{Kind: hold.Pause, Scope: s} }
	restored := func(s hold.Scope) hold.Hold { return hold.Hold{Kind: hold.Restore, Scope: s} }
	for _, tc := range []struct {
		name    string
		kind    plan.Kind
		holds   []hold.Hold
		follows following
		stopped bool
	}{
		{"permits sizes without a hold", plan.Sizes, nil, false, false},
		{"forbids sizes if another replica may lead", plan.Sizes, nil, true, true},
		{"forbids sizes of a paused pod", plan.Sizes, []hold.Hold{pause(hold.Scope{Namespace: "shop", Pod: "web", UID: "1"})}, false, true},
		{"forbids sizes in a paused workload", plan.Sizes, []hold.Hold{pause(hold.Scope{Namespace: "shop", Workload: deployment})}, false, true},
		{"forbids sizes in a paused namespace", plan.Sizes, []hold.Hold{pause(hold.Scope{Namespace: "shop"})}, false, true},
		{"forbids sizes in a paused cluster", plan.Sizes, []hold.Hold{pause(hold.Scope{})}, false, true},
		{"permits sizes if another pod of the name was paused", plan.Sizes, []hold.Hold{pause(hold.Scope{Namespace: "shop", Pod: "web", UID: "2"})}, false, false},
		{"forbids sizes during a restore", plan.Sizes, []hold.Hold{restored(hold.Scope{})}, false, true},
		{"forbids reverts during a pause", plan.RevertRefused, []hold.Hold{pause(hold.Scope{})}, false, true},
		{"forbids sizes while a breaker is open", plan.Sizes, []hold.Hold{{Kind: hold.Breaker, Scope: hold.Scope{Namespace: "shop", Workload: deployment}}}, false, true},
		{"permits sizes after it was reset", plan.Sizes, []hold.Hold{{Kind: hold.Breaker, Reset: time.Unix(1, 0)}}, false, false},
		{"permits to revert a refused size while a breaker is open", plan.RevertRefused, []hold.Hold{{Kind: hold.Breaker}}, false, false},
		{"permits reverts while a breaker is open", plan.Revert, []hold.Hold{{Kind: hold.Breaker}}, false, false},
		{"permits a restore while its hold is in effect and a breaker is open", plan.Restore, []hold.Hold{{Kind: hold.Breaker}, restored(hold.Scope{})}, false, false},
		{"forbids a restore if only a breaker is left", plan.Restore, []hold.Hold{{Kind: hold.Breaker}}, false, true},
		{"permits a restore while its hold is in effect", plan.Restore, []hold.Hold{restored(hold.Scope{Namespace: "shop", Workload: deployment})}, false, false},
		{"permits a restore during a pause", plan.Restore, []hold.Hold{restored(hold.Scope{}), pause(hold.Scope{Namespace: "shop"})}, false, false},
		{"forbids a restore whose hold has ended", plan.Restore, nil, false, true},
		{"forbids a restore if only a pause is left", plan.Restore, []hold.Hold{pause(hold.Scope{})}, false, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := ruled(t, tc.holds...)
			r.Leader = tc.follows
			p := &plan.Plan{Subject: plan.Subject{UID: "1"}, Kind: tc.kind, Decision: plan.Resize}
			p.Pod.Namespace, p.Pod.Name, p.Workloads = "shop", "web", []workload.Workload{{Kind: "ReplicaSet", Name: "web-1"}, deployment}
			err := r.permit(t.Context(), p, plan.Action{Step: plan.StepResize})
			var stopped *actuate.StoppedError
			if (err != nil) != tc.stopped || errors.As(err, &stopped) != tc.stopped {
				t.Errorf("got %v", err)
			}
		})
	}
}

func aFreezeStopsEveryWriteButTheRecord(t *testing.T) {
	r := ruled(t)
	frozen := clustertest.Frozen(hold.Freeze{}, hold.Hold{Kind: hold.Restore, Scope: hold.Scope{Namespace: "shop"}})
	r.Holds, r.Cluster.Holds = frozen, frozen
	for _, kind := range []plan.Kind{plan.Sizes, plan.RevertRefused, plan.Restore} {
		p := &plan.Plan{Kind: kind}
		p.Pod.Namespace, p.Pod.Name = "shop", "web"
		for _, step := range plan.Steps {
			if err := r.permit(t.Context(), p, plan.Action{Step: step}); err == nil {
				t.Errorf("%s of %v begins", step, kind)
			}
		}
	}
	p := planOfSized(t)
	for _, w := range p.Actions() {
		if err := r.permit(t.Context(), p, w); (err == nil) != (w.Step == plan.StepApplied) {
			t.Errorf("%s: %v", w.Step, err)
		}
	}
}

// late are holds whose watch has not delivered a freeze yet.
type late struct {
	clustertest.NoHolds
	err error
}

func (l late) FrozenNow(context.Context) (bool, error) { return l.err == nil, l.err }

func aFreezeStopsWritesBeforeTheWatchDeliversIt(t *testing.T) {
	unread := errors.New("unread")
	for _, err := range []error{nil, unread} {
		r := ruled(t)
		r.Holds = late{err: err}
		p := planOfSized(t)
		for _, w := range p.Actions() {
			got := r.permit(t.Context(), p, w)
			if w.Anyhow != (got == nil) || !w.Anyhow && err != nil && !errors.Is(got, err) {
				t.Errorf("%s: %v", w.Step, got)
			}
		}
		var stopped *actuate.StoppedError
		if got := r.PermitEviction(t.Context(), pod.From(podtest.Pod(podtest.Amounts{"1", "1", "1Gi", "1Gi"}))); !errors.As(got, &stopped) {
			t.Errorf("an eviction: %v", got)
		} else if err != nil && stopped.Because != "it is not known whether the cluster is frozen: unread" {
			t.Errorf("an eviction: %s", stopped.Because)
		}
	}
}

// patient is a limiter that calls a function of the test while a write waits.
type patient struct {
	flowcontrol.RateLimiter
	meanwhile func()
}

func (p patient) Wait(context.Context) error {
	p.meanwhile()
	return nil
}

func aPauseStopsAWriteThatWaitsForItsTurn(t *testing.T) {
	r := ruled(t)
	p := planOfSized(t)
	r.Writer.Limiter = patient{meanwhile: func() {
		r.held(hold.Hold{Kind: hold.Pause, Scope: hold.Scope{}})
	}}
	// Without the pause the error would be different: the API server refuses connections.
	_, err := r.Writer.CarryOut(t.Context(), p)
	var stopped *actuate.StoppedError
	if !errors.As(err, &stopped) {
		t.Fatalf("got %v", err)
	}
	r.failed(t.Context(), p.Pod, p, err)
	if left := r.ledger.pause(p, r.Clock.Now()); left != 0 || r.queue.Len() != 1 {
		t.Errorf("a pause of %v, %d pods queued", left, r.queue.Len())
	}
	if said := testutil.ToFloat64(r.metrics.outcomes.WithLabelValues(string(contract.ResizeFailed))); said != 0 {
		t.Error("the stop counts as a failure")
	}
}

func aNewLeaderForgetsReportsAndPauses(t *testing.T) {
	r := ruled(t)
	p := planFor(t, podtest.Amounts{"1", "", "", ""})
	in, _ := r.Cluster.Rules()
	r.ledger.planned(p, in, difference{}, podtest.Start)
	said := plan.Reason{Code: contract.ResizeFailed, Message: "no"}
	r.ledger.news(p.Pod, p.UID, said)
	r.ledger.attempted(p, errFailed, plan.Reason{}, r.Clock.Now())
	r.pacer = newPacer(steadily(1), nil, 1, r.Clock)
	r.pacer.mayGo(p.Pod, need{wrong: 1})
	before := r.Status()

	r.Leader = following(true)
	r.leaderChanged()
	if now := r.Status(); now.Backlog != 0 || len(now.Pods) != 1 || now.Pods[0] != before.Pods[0] {
		t.Errorf("following: %+v", now)
	}
	r.Leader = following(false)
	r.leaderChanged()
	if r.ledger.pause(p, r.Clock.Now()) != 0 || !r.ledger.news(p.Pod, p.UID, said) {
		t.Error("a pause or a report from before still counts")
	}
}
