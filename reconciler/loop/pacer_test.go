package loop

import (
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

func podNamed(name string) types.NamespacedName { return types.NamespacedName{Name: name} }

func TestPacer(t *testing.T) {
	t.Run("moves the most wrong pods first, at a steady rate", movesTheMostWrongPodsFirstAtASteadyRate)
	t.Run("delays no pod without a rate", delaysNoPodWithoutARate)
	t.Run("gives a turn without a move to the next pod immediately", givesATurnWithoutAMoveToTheNextPodImmediately)
	t.Run("keeps a turn that begins during a visit for the next visit", keepsATurnThatBeginsDuringAVisitForTheNextVisit)
	t.Run("does not delay a restore after a refused resize", doesNotDelayARestoreAfterARefusedResize)
}

func movesTheMostWrongPodsFirstAtASteadyRate(t *testing.T) {
	clock := testingclock.NewFakeClock(podtest.Start)
	p := newPacer(steadily(2), nil, 4, clock)
	for pod, wrong := range map[string]float64{"little": 0.1, "most": 0.9, "more": 0.2, "gone": 0.5} {
		if p.mayGo(podNamed(pod), need{wrong: wrong}) {
			t.Errorf("%s has its turn immediately", pod)
		}
	}
	p.mayGo(podNamed("more"), need{wrong: 0.4}) // Planned again, it is more wrong than before.
	p.forget(podNamed("gone"))
	if got := p.backlog(); got != 3 {
		t.Errorf("%d wait, want 3", got)
	}
	for _, want := range []string{"most", "more", "little"} {
		if pod, wait := p.next(); wait != 500*time.Millisecond {
			t.Errorf("the turn of %v begins in %v", pod, wait)
		}
		clock.Step(500 * time.Millisecond)
		if pod, wait := p.next(); wait != 0 || pod.Name != want {
			t.Errorf("the turn of %s begins in %v, want %s", pod.Name, wait, want)
		}
		if !p.mayGo(podNamed(want), need{}) {
			t.Errorf("%s may not go although it is its turn", want)
		}
		p.used(podNamed(want), nil)
		if p.mayGo(podNamed(want), need{}) {
			t.Errorf("%s has a second turn", want)
		}
		p.forget(podNamed(want))
	}
	if pod, wait := p.next(); wait >= 0 {
		t.Errorf("a turn of %v in %v although no pod waits", pod, wait)
	}
}

func delaysNoPodWithoutARate(t *testing.T) {
	p := newPacer(steadily(0), nil, 1, testingclock.NewFakeClock(podtest.Start))
	if !p.mayGo(podNamed("a"), need{wrong: 1}) || p.backlog() != 0 {
		t.Error("a pod waits")
	}
}

func givesATurnWithoutAMoveToTheNextPodImmediately(t *testing.T) {
	used := func(err error) func(*pacer) {
		return func(p *pacer) {
			p.mayGo(podNamed("first"), need{wrong: 2})
			p.used(podNamed("first"), err)
		}
	}
	for _, tc := range []struct {
		name   string
		happen func(*pacer)
		wait   time.Duration
	}{
		{"if the pod is deleted, or has its size", func(p *pacer) { p.forget(podNamed("first")) }, 0},
		{"if the pod is backing off", func(p *pacer) {
			p.take(podNamed("first"))
			p.release(podNamed("first"))
		}, 0},
		{"if there is a hold now", used(&actuate.StoppedError{Because: "a pause is in effect"}), 0},
		{"if the pod has changed", used(errConflict), 0},
		{"if the resize is refused", used(errRefused), 0},
		{"if the resize is refused for a reason of the contract", used(&actuate.RefusedError{Reason: contract.QuotaExceeded, Err: errRefused}), 0},
		{"if a webhook cannot be called", used(apierrors.NewInternalError(errors.New("failed calling webhook \"sizes.example.com\""))), 0},
		{"not if the pod was moved", used(nil), time.Second},
		{"not if only the record is missing", used(&actuate.UnannotatedError{Err: errRefused}), time.Second},
		{"not if the API server is busy", used(&actuate.BusyError{Err: errBusy, Asked: time.Minute}), time.Second},
		{"not if the API server has an internal error", used(apierrors.NewInternalError(errors.New("etcdserver: request timed out"))), time.Second},
		{"not if the API server does not respond", used(errors.New("connection refused")), time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			clock := testingclock.NewFakeClock(podtest.Start)
			p := newPacer(steadily(1), nil, 1, clock)
			p.mayGo(podNamed("first"), need{wrong: 2})
			p.mayGo(podNamed("next"), need{wrong: 1})
			clock.Step(time.Second)
			p.next()
			tc.happen(p)
			pod, wait := p.next()
			if wait != tc.wait || wait == 0 && pod.Name != "next" {
				t.Errorf("the turn of %v begins in %v, want %v", pod, wait, tc.wait)
			}
		})
	}
}

// After its turn has begun, the queue passes the pod to a worker again.
func keepsATurnThatBeginsDuringAVisitForTheNextVisit(t *testing.T) {
	clock := testingclock.NewFakeClock(podtest.Start)
	p := newPacer(steadily(1), nil, 1, clock)
	p.take(podNamed("a"))
	p.mayGo(podNamed("a"), need{wrong: 1})
	clock.Step(time.Second)
	if _, wait := p.next(); wait != 0 {
		t.Fatalf("the turn begins in %v", wait)
	}
	p.release(podNamed("a"))
	p.take(podNamed("a"))
	if !p.mayGo(podNamed("a"), need{wrong: 1}) {
		t.Error("the turn is lost")
	}
}

func doesNotDelayARestoreAfterARefusedResize(t *testing.T) {
	clock := testingclock.NewFakeClock(podtest.Start)
	p := newPacer(steadily(1), nil, 1, clock)
	for _, asks := range []struct {
		restores bool
		want     *line
	}{{false, &p.lines.sizes}, {false, &p.lines.failed}, {true, &p.lines.restores}, {true, &p.lines.failed}, {false, &p.lines.sizes}} {
		p.mayGo(podNamed("a"), need{wrong: 1, restores: asks.restores})
		if got := p.byPod[podNamed("a")].line; got != asks.want {
			t.Errorf("restores %v: it waits in another line", asks.restores)
		}
		clock.Step(time.Minute)
		p.next()
		p.mayGo(podNamed("a"), need{wrong: 1, restores: asks.restores})
		p.used(podNamed("a"), errRefused)
	}
}
