package reconciler

import (
	"context"
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// fixedHolds are what they are.
type fixedHolds struct {
	noHolds
	table *hold.Table
}

func (h fixedHolds) Ready() (*hold.Table, error) { return h.table, nil }

// following leads or does not.
type following bool

func (f following) Leading() bool        { return !bool(f) }
func (following) Watch() <-chan struct{} { return nil }

// ruled returns a reconciler that does not run, with a table in force and these
// holds.
func ruled(t *testing.T, holds ...hold.Hold) *Reconciler {
	t.Helper()
	r, _ := idle(t, "https://127.0.0.1:1")
	r.Holds = fixedHolds{table: hold.NewTable(holds)}
	layer := &ratios.Layer{Baseline: "n2d", Ratios: map[string]ratios.Ratio{"n2d": {CPUPerf: 1, MemoryPerf: 1}}}
	r.Ratios = ratios.NewStore(ratiotest.NewMemory("memory", ratios.Update{Layer: layer}))
	changed := r.Ratios.Watch()
	go func() { _ = r.Ratios.Run(t.Context()) }()
	<-changed
	return r
}

func TestWhatAWriteMayBeginFor(t *testing.T) {
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

func TestAPauseThatComesWhileAWriteWaitsForItsTurnStopsIt(t *testing.T) {
	r := ruled(t)
	p := planOfSized(t)
	r.actuator.Limiter = patient{meanwhile: func() {
		r.Holds = fixedHolds{table: hold.NewTable([]hold.Hold{{Kind: hold.Pause, Scope: hold.Scope{}}})}
	}}
	// Its API server refuses connections, which would be another error.
	_, err := r.actuator.CarryOut(t.Context(), p)
	var stopped *actuate.StoppedError
	if !errors.As(err, &stopped) {
		t.Fatalf("got %v", err)
	}
	r.failed(t.Context(), p.Pod, p, err)
	if left := r.ledger.pause(p, r.clock.Now()); left != 0 || r.queue.Len() != 1 {
		t.Errorf("a pause of %v, %d pods queued", left, r.queue.Len())
	}
	if said := testutil.ToFloat64(r.metrics.outcomes.WithLabelValues(string(contract.ResizeFailed))); said != 0 {
		t.Error("it counts as a failure")
	}
}

func TestWhatWasSaidAndRefusedIsForgottenByANewLeader(t *testing.T) {
	r := ruled(t)
	p := planFor(t, podtest.Amounts{"1", "", "", ""})
	in, _ := r.rules()
	r.ledger.planned(p, in, difference{}, podtest.Start)
	said := plan.Reason{Code: contract.ResizeFailed, Message: "no"}
	r.ledger.news(p.Pod, p.UID, said)
	r.ledger.attempted(p, 0, r.clock.Now())
	r.pacer = newPacer(1, 1, r.clock)
	r.pacer.mayGo(p.Pod, 1, false)
	before := r.Status()

	r.Leader = following(true)
	r.leaderChanged()
	if now := r.Status(); now.Backlog != 0 || len(now.Pods) != 1 || now.Pods[0] != before.Pods[0] {
		t.Errorf("following: %+v", now)
	}
	r.Leader = following(false)
	r.leaderChanged()
	if r.ledger.pause(p, r.clock.Now()) != 0 || !r.ledger.news(p.Pod, p.UID, said) {
		t.Error("what was before counts")
	}
}

// stops: a plan that is stopped before any of its writes leaves a pod from which
// the next one comes to the same end.
func (s *apiServer) stops(t *testing.T) {
	sized := func(t *testing.T) (*corev1.Pod, *plan.Plan) {
		p := s.pod(t, podtest.Guaranteed)
		return p, s.plan(t, p, "n4")
	}
	restored := func(t *testing.T) (*corev1.Pod, *plan.Plan) {
		p := s.carryOut(t, s.pod(t, podtest.Guaranteed), "n4")
		return p, s.planAs(t, p, "n4", restoring)
	}
	again := func(p *corev1.Pod) *plan.Plan { return s.planAs(t, p, "n4") }
	for _, tc := range []struct {
		name    string
		begin   func(*testing.T) (*corev1.Pod, *plan.Plan)
		permits int
		goOn    func(*corev1.Pod) *plan.Plan
		left    podtest.Amounts
		leftHas []string
		want    podtest.Amounts
		has     []string
	}{
		{"before the originals", sized, 0, again, podtest.Guaranteed, nil, podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, applied("n4")},
		{"before the resize", sized, 1, again, podtest.Guaranteed, recordedOriginals, podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, applied("n4")},
		{"before what was applied", sized, 2, again, podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, recordedOriginals, podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, applied("n4")},
		{"before the restore", restored, 0, func(p *corev1.Pod) *plan.Plan { return s.planAs(t, p, "n4", restoring) }, podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, applied("n4"), podtest.Guaranteed, nil},
		{"before the annotations go", restored, 1, func(p *corev1.Pod) *plan.Plan { return s.planAs(t, p, "n4", restoring) }, podtest.Guaranteed, applied("n4"), podtest.Guaranteed, nil},
		{"and the restore ends there", restored, 1, again, podtest.Guaranteed, applied("n4"), podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, applied("n4")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, planned := tc.begin(t)
			a := *s.actuator
			left := tc.permits
			a.Permit = func(*plan.Plan) error {
				if left--; left < 0 {
					return &actuate.StoppedError{Because: "test"}
				}
				return nil
			}
			_, err := a.CarryOut(t.Context(), planned)
			var stopped *actuate.StoppedError
			if !errors.As(err, &stopped) {
				t.Fatalf("got %v", err)
			}
			p = s.get(t, p)
			check(t, p, tc.left, tc.leftHas...)
			s.do(t, tc.goOn(p))
			check(t, s.get(t, p), tc.want, tc.has...)
		})
	}
}
