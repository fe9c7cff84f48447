package loop

import (
	"context"
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// following leads or does not.
type following bool

func (f following) Leading() bool { return !bool(f) }

func (following) Watch() <-chan struct{} { return nil }

func TestPermit(t *testing.T) {
	t.Run("what a write may begin for", whatAWriteMayBeginFor)
	t.Run("a pause that comes while a write waits for its turn stops it", aPauseThatComesWhileAWriteWaitsForItsTurnStopsIt)
	t.Run("what was said and refused is forgotten by a new leader", whatWasSaidAndRefusedIsForgottenByANewLeader)
}

func whatAWriteMayBeginFor(t *testing.T) {
	deployment := safety.Workload{Kind: "Deployment", Name: "web"}
	pause := func(s hold.Scope) hold.Hold { return hold.Hold{Kind: hold.Pause, Scope: s} }
	restored := func(s hold.Scope) hold.Hold { return hold.Hold{Kind: hold.Restore, Scope: s} }
	for _, tc := range []struct {
		name    string
		kind    plan.Kind
		holds   []hold.Hold
		follows following
		stopped bool
	}{
		{"sizes, if nobody says otherwise", plan.Sizes, nil, false, false},
		{"not if another replica may lead", plan.Sizes, nil, true, true},
		{"not for a paused pod", plan.Sizes, []hold.Hold{pause(hold.Scope{Namespace: "shop", Pod: "web", UID: "1"})}, false, true},
		{"not for one of a paused workload", plan.Sizes, []hold.Hold{pause(hold.Scope{Namespace: "shop", Workload: deployment})}, false, true},
		{"not in a paused namespace", plan.Sizes, []hold.Hold{pause(hold.Scope{Namespace: "shop"})}, false, true},
		{"not in a paused cluster", plan.Sizes, []hold.Hold{pause(hold.Scope{})}, false, true},
		{"but beside a paused pod", plan.Sizes, []hold.Hold{pause(hold.Scope{Namespace: "shop", Pod: "web", UID: "2"})}, false, false},
		{"no sizes for what is to be restored", plan.Sizes, []hold.Hold{restored(hold.Scope{})}, false, true},
		{"nothing is put back while paused", plan.PutBack, []hold.Hold{pause(hold.Scope{})}, false, true},
		{"a restore, while it is asked for", plan.Restore, []hold.Hold{restored(hold.Scope{Namespace: "shop", Workload: deployment})}, false, false},
		{"although there is a pause", plan.Restore, []hold.Hold{restored(hold.Scope{}), pause(hold.Scope{Namespace: "shop"})}, false, false},
		{"not when it has ended", plan.Restore, nil, false, true},
		{"nor if a pause is left of it", plan.Restore, []hold.Hold{pause(hold.Scope{})}, false, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := ruled(t, tc.holds...)
			r.Leader = tc.follows
			p := &plan.Plan{UID: "1", Kind: tc.kind}
			p.Pod.Namespace, p.Pod.Name, p.Workloads = "shop", "web", []safety.Workload{{Kind: "ReplicaSet", Name: "web-1"}, deployment}
			err := r.permit(p)
			var stopped *actuate.StoppedError
			if (err != nil) != tc.stopped || errors.As(err, &stopped) != tc.stopped {
				t.Errorf("got %v", err)
			}
		})
	}
}

// patient is a limiter that lets a test do something while a write waits.
type patient struct {
	flowcontrol.RateLimiter
	meanwhile func()
}

func (p patient) Wait(context.Context) error {
	p.meanwhile()
	return nil
}

func aPauseThatComesWhileAWriteWaitsForItsTurnStopsIt(t *testing.T) {
	r := ruled(t)
	p := planOfSized(t)
	r.Writer.Limiter = patient{meanwhile: func() {
		r.held(hold.Hold{Kind: hold.Pause, Scope: hold.Scope{}})
	}}
	// Its API server refuses connections, which would be another error.
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
		t.Error("it counts as a failure")
	}
}

func whatWasSaidAndRefusedIsForgottenByANewLeader(t *testing.T) {
	r := ruled(t)
	p := planFor(t, podtest.Amounts{"1", "", "", ""})
	in, _ := r.Cluster.Rules()
	r.ledger.planned(p, in, difference{}, podtest.Start)
	said := plan.Reason{Code: contract.ResizeFailed, Message: "no"}
	r.ledger.news(p.Pod, p.UID, said)
	r.ledger.attempted(p, 0, r.Clock.Now())
	r.pacer = newPacer(1, 1, r.Clock)
	r.pacer.mayGo(p.Pod, 1, false)
	before := r.Status()

	r.Leader = following(true)
	r.leaderChanged()
	if now := r.Status(); now.Backlog != 0 || len(now.Pods) != 1 || now.Pods[0] != before.Pods[0] {
		t.Errorf("following: %+v", now)
	}
	r.Leader = following(false)
	r.leaderChanged()
	if r.ledger.pause(p, r.Clock.Now()) != 0 || !r.ledger.news(p.Pod, p.UID, said) {
		t.Error("what was before counts")
	}
}
