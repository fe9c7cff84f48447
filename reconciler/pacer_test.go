package reconciler

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func TestThePacerLetsTheMostWrongThroughFirstAtASteadyRate(t *testing.T) {
	clock := testingclock.NewFakeClock(start)
	p := newPacer(2, clock)
	ctx, cancel := context.WithCancel(t.Context())
	turns, ended := make(chan string), make(chan struct{})
	go func() {
		p.run(ctx, func(pod types.NamespacedName) { turns <- pod.Name })
		close(ended)
	}()
	name := func(pod string) types.NamespacedName { return types.NamespacedName{Name: pod} }

	for pod, wrong := range map[string]float64{"little": 0.1, "most": 0.9, "more": 0.2, "gone": 0.5} {
		if p.mayGo(name(pod), wrong) {
			t.Errorf("%s goes at once", pod)
		}
	}
	p.mayGo(name("more"), 0.4) // Planned again, it is more wrong than it was.
	p.forget(name("gone"))
	if got := p.backlog(); got != 3 {
		t.Errorf("%d wait, want 3", got)
	}
	for _, want := range []string{"most", "more", "little"} {
		localcluster.Eventually(t, "the pacer to wait", func() error {
			if !clock.HasWaiters() {
				return context.DeadlineExceeded
			}
			return nil
		})
		select {
		case got := <-turns:
			t.Fatalf("%s has its turn before its time", got)
		default:
		}
		clock.Step(500 * time.Millisecond)
		if got := <-turns; got != want {
			t.Errorf("the turn is %s's, want %s", got, want)
		}
		if !p.mayGo(name(want), 0) {
			t.Errorf("%s may not go although it is its turn", want)
		}
		if p.mayGo(name(want), 0) {
			t.Errorf("%s has a second turn", want)
		}
		p.forget(name(want))
	}
	cancel()
	<-ended
}

func TestWithoutARateNobodyWaits(t *testing.T) {
	p := newPacer(0, testingclock.NewFakeClock(start))
	if !p.mayGo(types.NamespacedName{Name: "a"}, 1) || p.backlog() != 0 {
		t.Error("a pod waits")
	}
}
