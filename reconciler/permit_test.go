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
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
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
		kind    kind
		holds   []hold.Hold
		follows following
		stopped bool
	}{
		{"sizes, if nobody says otherwise", sizes, nil, false, false},
		{"not if another replica may lead", sizes, nil, true, true},
		{"not for a paused pod", sizes, []hold.Hold{pause(hold.Scope{Namespace: "shop", Pod: "web", UID: "1"})}, false, true},
		{"not for one of a paused workload", sizes, []hold.Hold{pause(hold.Scope{Namespace: "shop", Workload: deployment})}, false, true},
		{"not in a paused namespace", sizes, []hold.Hold{pause(hold.Scope{Namespace: "shop"})}, false, true},
		{"not in a paused cluster", sizes, []hold.Hold{pause(hold.Scope{})}, false, true},
		{"but beside a paused pod", sizes, []hold.Hold{pause(hold.Scope{Namespace: "shop", Pod: "web", UID: "2"})}, false, false},
		{"no sizes for what is to be restored", sizes, []hold.Hold{restored(hold.Scope{})}, false, true},
		{"nothing is put back while paused", putBack, []hold.Hold{pause(hold.Scope{})}, false, true},
		{"a restore, while it is asked for", restore, []hold.Hold{restored(hold.Scope{Namespace: "shop", Workload: deployment})}, false, false},
		{"although there is a pause", restore, []hold.Hold{restored(hold.Scope{}), pause(hold.Scope{Namespace: "shop"})}, false, false},
		{"not when it has ended", restore, nil, false, true},
		{"nor if a pause is left of it", restore, []hold.Hold{pause(hold.Scope{})}, false, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := ruled(t, tc.holds...)
			r.Leader = tc.follows
			plan := &Plan{UID: "1", kind: tc.kind}
			plan.Pod.Namespace, plan.Pod.Name, plan.workloads = "shop", "web", []safety.Workload{{Kind: "ReplicaSet", Name: "web-1"}, deployment}
			err := r.permit(plan)
			var stopped *stoppedError
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
	plan := planFor(t, amounts{"1", "", "", ""})
	r.actuator.limiter = patient{meanwhile: func() {
		r.Holds = fixedHolds{table: hold.NewTable([]hold.Hold{{Kind: hold.Pause, Scope: hold.Scope{}}})}
	}}
	// Its API server refuses connections, which would be another error.
	_, err := r.actuator.resize(t.Context(), plan, StepResize, "1")
	var stopped *stoppedError
	if !errors.As(err, &stopped) {
		t.Fatalf("got %v", err)
	}
	r.failed(t.Context(), plan.Pod, plan, err)
	if left := r.ledger.pause(plan, r.clock.Now()); left != 0 || r.queue.Len() != 1 {
		t.Errorf("a pause of %v, %d pods queued", left, r.queue.Len())
	}
	if said := testutil.ToFloat64(r.metrics.outcomes.WithLabelValues(string(contract.ResizeFailed))); said != 0 {
		t.Error("it counts as a failure")
	}
}

func TestWhatWasSaidAndRefusedIsForgottenByANewLeader(t *testing.T) {
	r := ruled(t)
	plan := planFor(t, amounts{"1", "", "", ""})
	in, _ := r.rules()
	r.ledger.planned(plan, in, difference{}, start)
	said := Reason{contract.ResizeFailed, "no"}
	r.ledger.news(plan.Pod, plan.UID, said)
	r.ledger.attempted(plan, 0, r.clock.Now())
	r.pacer = newPacer(1, 1, r.clock)
	r.pacer.mayGo(plan.Pod, 1, false)
	before := r.Status()

	r.Leader = following(true)
	r.leaderChanged()
	if now := r.Status(); now.Backlog != 0 || len(now.Pods) != 1 || now.Pods[0] != before.Pods[0] {
		t.Errorf("following: %+v", now)
	}
	r.Leader = following(false)
	r.leaderChanged()
	if r.ledger.pause(plan, r.clock.Now()) != 0 || !r.ledger.news(plan.Pod, plan.UID, said) {
		t.Error("what was before counts")
	}
}

// stops: a plan that is stopped before any of its writes leaves a pod from which
// the next one comes to the same end.
func (s *apiServer) stops(t *testing.T) {
	sized := func(t *testing.T) (*corev1.Pod, *Plan) {
		p := s.pod(t, guaranteed)
		return p, s.plan(t, p, "n4")
	}
	restored := func(t *testing.T) (*corev1.Pod, *Plan) {
		p := s.carryOut(t, s.pod(t, guaranteed), "n4")
		return p, s.planAs(t, p, "n4", restoring)
	}
	again := func(p *corev1.Pod) *Plan { return s.planAs(t, p, "n4") }
	for _, tc := range []struct {
		name    string
		begin   func(*testing.T) (*corev1.Pod, *Plan)
		permits int
		goOn    func(*corev1.Pod) *Plan
		left    amounts
		leftHas []string
		want    amounts
		has     []string
	}{
		{"before the originals", sized, 0, again, guaranteed, nil, amounts{"800m", "800m", "1Gi", "1Gi"}, applied("n4")},
		{"before the resize", sized, 1, again, guaranteed, recordedOriginals, amounts{"800m", "800m", "1Gi", "1Gi"}, applied("n4")},
		{"before what was applied", sized, 2, again, amounts{"800m", "800m", "1Gi", "1Gi"}, recordedOriginals, amounts{"800m", "800m", "1Gi", "1Gi"}, applied("n4")},
		{"before the restore", restored, 0, func(p *corev1.Pod) *Plan { return s.planAs(t, p, "n4", restoring) }, amounts{"800m", "800m", "1Gi", "1Gi"}, applied("n4"), guaranteed, nil},
		{"before the annotations go", restored, 1, func(p *corev1.Pod) *Plan { return s.planAs(t, p, "n4", restoring) }, guaranteed, applied("n4"), guaranteed, nil},
		{"and the restore ends there", restored, 1, again, guaranteed, applied("n4"), amounts{"800m", "800m", "1Gi", "1Gi"}, applied("n4")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, plan := tc.begin(t)
			a := *s.actuator
			left := tc.permits
			a.permit = func(*Plan) error {
				if left--; left < 0 {
					return &stoppedError{"test"}
				}
				return nil
			}
			_, err := a.carryOut(t.Context(), plan)
			var stopped *stoppedError
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
