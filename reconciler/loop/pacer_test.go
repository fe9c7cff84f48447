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
	t.Run("the pacer lets the most wrong through first at a steady rate", thePacerLetsTheMostWrongThroughFirstAtASteadyRate)
	t.Run("without a rate nobody waits", withoutARateNobodyWaits)
	t.Run("a turn in which no pod is moved goes to the next at once", aTurnInWhichNoPodIsMovedGoesToTheNextAtOnce)
	t.Run("a turn that comes during a visit is for the next one", aTurnThatComesDuringAVisitIsForTheNextOne)
	t.Run("a restore is not behind the sizes that the pod was refused", aRestoreIsNotBehindTheSizesThatThePodWasRefused)
}

func thePacerLetsTheMostWrongThroughFirstAtASteadyRate(t *testing.T) {
	clock := testingclock.NewFakeClock(podtest.Start)
	p := newPacer(2, 4, clock)
	for pod, wrong := range map[string]float64{"little": 0.1, "most": 0.9, "more": 0.2, "gone": 0.5} {
		if p.mayGo(podNamed(pod), wrong, false) {
			t.Errorf("%s goes at once", pod)
		}
	}
	p.mayGo(podNamed("more"), 0.4, false) // Planned again, it is more wrong than it was.
	p.forget(podNamed("gone"))
	if got := p.backlog(); got != 3 {
		t.Errorf("%d wait, want 3", got)
	}
	for _, want := range []string{"most", "more", "little"} {
		if pod, wait := p.next(); wait != 500*time.Millisecond {
			t.Errorf("%v has its turn in %v", pod, wait)
		}
		clock.Step(500 * time.Millisecond)
		if pod, wait := p.next(); wait != 0 || pod.Name != want {
			t.Errorf("the turn is %s's in %v, want %s", pod.Name, wait, want)
		}
		if !p.mayGo(podNamed(want), 0, false) {
			t.Errorf("%s may not go although it is its turn", want)
		}
		p.used(podNamed(want), nil)
		if p.mayGo(podNamed(want), 0, false) {
			t.Errorf("%s has a second turn", want)
		}
		p.forget(podNamed(want))
	}
	if pod, wait := p.next(); wait >= 0 {
		t.Errorf("a turn of %v in %v although nobody waits", pod, wait)
	}
}

func withoutARateNobodyWaits(t *testing.T) {
	p := newPacer(0, 1, testingclock.NewFakeClock(podtest.Start))
	if !p.mayGo(podNamed("a"), 1, false) || p.backlog() != 0 {
		t.Error("a pod waits")
	}
}

func aTurnInWhichNoPodIsMovedGoesToTheNextAtOnce(t *testing.T) {
	used := func(err error) func(*pacer) {
		return func(p *pacer) {
			p.mayGo(podNamed("first"), 2, false)
			p.used(podNamed("first"), err)
		}
	}
	for _, tc := range []struct {
		name   string
		happen func(*pacer)
		wait   time.Duration
	}{
		{"the pod is gone, or has its sizes", func(p *pacer) { p.forget(podNamed("first")) }, 0},
		{"it is to be let be for now", func(p *pacer) {
			p.take(podNamed("first"))
			p.release(podNamed("first"))
		}, 0},
		{"a hold came meanwhile", used(&actuate.StoppedError{Because: "there is a pause"}), 0},
		{"it changed meanwhile", used(errConflict), 0},
		{"it is refused", used(errRefused), 0},
		{"it is refused for a reason that has a name", used(&actuate.RefusedError{Reason: contract.QuotaExceeded, Err: errRefused}), 0},
		{"a webhook cannot be called", used(apierrors.NewInternalError(errors.New("failed calling webhook \"sizes.example.com\""))), 0},
		{"but not if the pod was moved", used(nil), time.Second},
		{"nor if only the record is missing", used(&actuate.UnrecordedError{Err: errRefused}), time.Second},
		{"nor if the API server asks to be let be", used(&actuate.BusyError{Err: errBusy, Asked: time.Minute}), time.Second},
		{"nor if it is ill", used(apierrors.NewInternalError(errors.New("etcdserver: request timed out"))), time.Second},
		{"nor if it gives no answer", used(errors.New("connection refused")), time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			clock := testingclock.NewFakeClock(podtest.Start)
			p := newPacer(1, 1, clock)
			p.mayGo(podNamed("first"), 2, false)
			p.mayGo(podNamed("next"), 1, false)
			clock.Step(time.Second)
			p.next()
			tc.happen(p)
			pod, wait := p.next()
			if wait != tc.wait || wait == 0 && pod.Name != "next" {
				t.Errorf("%v goes, in %v", pod, wait)
			}
		})
	}
}

// The queue shows a pod to a worker once more after its turn has come.
func aTurnThatComesDuringAVisitIsForTheNextOne(t *testing.T) {
	clock := testingclock.NewFakeClock(podtest.Start)
	p := newPacer(1, 1, clock)
	p.take(podNamed("a"))
	p.mayGo(podNamed("a"), 1, false)
	clock.Step(time.Second)
	if _, wait := p.next(); wait != 0 {
		t.Fatalf("the turn comes in %v", wait)
	}
	p.release(podNamed("a"))
	p.take(podNamed("a"))
	if !p.mayGo(podNamed("a"), 1, false) {
		t.Error("the turn is lost")
	}
}

func aRestoreIsNotBehindTheSizesThatThePodWasRefused(t *testing.T) {
	clock := testingclock.NewFakeClock(podtest.Start)
	p := newPacer(1, 1, clock)
	for _, asks := range []struct {
		restores bool
		want     *line
	}{{false, &p.lines.sizes}, {false, &p.lines.failed}, {true, &p.lines.restores}, {true, &p.lines.failed}, {false, &p.lines.sizes}} {
		p.mayGo(podNamed("a"), 1, asks.restores)
		if got := p.byPod[podNamed("a")].line; got != asks.want {
			t.Errorf("restores %v: it waits elsewhere", asks.restores)
		}
		clock.Step(time.Minute)
		p.next()
		p.mayGo(podNamed("a"), 1, asks.restores)
		p.used(podNamed("a"), errRefused)
	}
}
