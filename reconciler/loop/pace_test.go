package loop

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

func TestPace(t *testing.T) {
	t.Run("a faster pace counts for pods that wait", aFasterPaceCountsForPodsThatWait)
	t.Run("a slower pace counts for pods that wait", aSlowerPaceCountsForPodsThatWait)
	t.Run("without a rate no pod waits any longer", withoutARateNoPodWaitsAnyLonger)
	t.Run("a different rate does not make up for turns that were not used", aDifferentRateDoesNotMakeUpForTurns)
	t.Run("a changed rate counts among refused pods", aChangedRateCountsAmongRefusedPods)
	t.Run("pods that free room wait for it without delaying others", podsThatFreeRoomWaitForIt)
	t.Run("turns without room are not made up for", turnsWithoutRoomAreNotMadeUpFor)
	t.Run("pods wait for room without a rate, too", podsWaitForRoomWithoutARateToo)
	t.Run("a failed turn frees nothing", aFailedTurnFreesNothing)
	t.Run("a limit that is set later counts what was freed before", aLimitThatIsSetLaterCountsWhatWasFreedBefore)
	t.Run("a limit that was unset for a moment counts what was freed before", aLimitThatWasUnsetForAMoment)
	t.Run("the lowest rate is one turn a day", theLowestRateIsOneTurnADay)
	t.Run("a faster pace counts for pods that failed", aFasterPaceCountsForPodsThatFailed)
	t.Run("a pod frees as much as its last plan says", aPodFreesAsMuchAsItsLastPlanSays)
	t.Run("a new pace wakes the pods that wait", aNewPaceWakesThePodsThatWait)
}

// changing is a pacer whose pace the test changes, in a cluster with 100 cores.
type changing struct {
	*pacer
	clock *testingclock.FakeClock
	now   pace
}

func changingFrom(start pace) *changing {
	c := &changing{clock: testingclock.NewFakeClock(podtest.Start), now: start}
	c.pacer = newPacer(func() pace { return c.now }, func() node.Resources { return cores(100) }, 4, c.clock)
	c.recall(nil)
	return c
}

// turns returns the pods that have their turns within a time, each of which is used with this result.
func (c *changing) turns(within time.Duration, result error) (pods []string) {
	for end := c.clock.Now().Add(within); ; {
		pod, wait := c.next()
		if wait == 0 {
			c.take(pod)
			if !c.mayGo(pod, need{frees: c.byPod[pod].frees}) {
				panic("a pod may not go although it is its turn")
			}
			c.used(pod, result)
			c.release(pod)
			pods = append(pods, pod.Name)
			continue
		}
		if wait < 0 || c.clock.Now().Add(wait).After(end) {
			c.clock.SetTime(end)
			return pods
		}
		c.clock.Step(wait)
	}
}

// wait lets pods wait that free this much each.
func (c *changing) wait(t *testing.T, name string, n int, frees node.Resources) {
	t.Helper()
	for i := range n {
		if c.mayGo(podNamed(fmt.Sprintf("%s-%d", name, i)), need{wrong: 1 - float64(i)/1000, frees: frees}) {
			t.Fatalf("%s-%d does not wait", name, i)
		}
	}
}

func aFasterPaceCountsForPodsThatWait(t *testing.T) {
	c := changingFrom(pace{perSecond: 0.001})
	c.wait(t, "pod", 100, node.Resources{})
	if got := c.turns(10*time.Minute, nil); len(got) != 0 {
		t.Fatalf("%d turns in 10 minutes at 1 in 1,000 s", len(got))
	}
	c.now.perSecond = 2
	if got := c.turns(10*time.Second, nil); len(got) != 20 {
		t.Errorf("%d turns in 10 s at 2 per second", len(got))
	}
}

func aSlowerPaceCountsForPodsThatWait(t *testing.T) {
	c := changingFrom(pace{perSecond: 20})
	c.wait(t, "pod", 100, node.Resources{})
	if got := c.turns(time.Second, nil); len(got) != 20 {
		t.Fatalf("%d turns in 1 s at 20 per second", len(got))
	}
	c.now.perSecond = 0.1
	if got := c.turns(time.Minute, nil); len(got) != 6 {
		t.Errorf("%d turns in a minute at 1 in 10 s", len(got))
	}
}

func withoutARateNoPodWaitsAnyLonger(t *testing.T) {
	c := changingFrom(pace{perSecond: 0.001})
	c.wait(t, "pod", 100, node.Resources{})
	c.now.perSecond = 0
	if !c.mayGo(podNamed("pod-7"), need{}) || c.backlog() != 99 {
		t.Errorf("%d pods wait after one may go", c.backlog())
	}
	if got := c.turns(0, nil); len(got) != 99 {
		t.Errorf("%d turns", len(got))
	}
	c.now.perSecond = 1
	c.wait(t, "pod", 100, node.Resources{})
}

func aDifferentRateDoesNotMakeUpForTurns(t *testing.T) {
	c := changingFrom(pace{perSecond: 1})
	c.wait(t, "pod", 100, node.Resources{})
	c.clock.Step(time.Minute)
	c.now.perSecond = 10
	if got := c.turns(time.Second, nil); len(got) > 11 {
		t.Errorf("%d turns in 1 s at 10 per second", len(got))
	}
}

func podsThatFreeRoomWaitForIt(t *testing.T) {
	c := changingFrom(pace{perSecond: 1, freedPerHour: 0.1})
	c.wait(t, "lower", 100, cores(1))
	c.wait(t, "raise", 20, node.Resources{})
	got := c.turns(10*time.Minute, nil)
	if len(got) != 30 {
		t.Errorf("%d turns, want 20 of pods that free nothing and 10 of others: %q", len(got), got)
	}
	if c.withoutRoom() != 90 || c.backlog() != 90 {
		t.Errorf("%d of %d pods wait for room", c.withoutRoom(), c.backlog())
	}
	if cpu, _ := c.freedShares(); cpu != 0.1 {
		t.Errorf("a share of %v was freed", cpu)
	}
	if got := c.turns(50*time.Minute, nil); len(got) != 0 {
		t.Errorf("%d turns within the hour", len(got))
	}
	if got := c.turns(10*time.Minute, nil); len(got) != 10 {
		t.Errorf("%d turns after the hour, want 10", len(got))
	}
	c.mayGo(podNamed("raise"), need{})
	if got := c.turns(time.Minute, nil); len(got) != 1 {
		t.Errorf("a pod that frees nothing waits with the others: %q", got)
	}
	c.now.freedPerHour = 0.2
	if got := c.turns(time.Minute, nil); len(got) != 10 {
		t.Errorf("%d turns after a change to 20%%, want 10", len(got))
	}
	c.now.freedPerHour = 0
	if got := c.turns(time.Minute, nil); len(got) < 60 || len(got) > 61 || c.withoutRoom() != 0 {
		t.Errorf("%d turns in a minute without a limit, want 60", len(got))
	}
}

func turnsWithoutRoomAreNotMadeUpFor(t *testing.T) {
	c := changingFrom(pace{perSecond: 1, freedPerHour: 0.1})
	c.wait(t, "lower", 100, cores(1))
	c.turns(time.Minute, nil)
	c.clock.Step(50 * time.Second)
	c.wait(t, "raise", 100, node.Resources{})
	if got := c.turns(10*time.Second, nil); len(got) > 11 {
		t.Errorf("%d turns in 10 s at 1 per second", len(got))
	}
	c.turns(90*time.Minute, nil)
	if got := c.backlog(); got != 80 {
		t.Errorf("%d pods wait, want 80", got)
	}
	c.clock.Step(59 * time.Second)
	c.now.freedPerHour = 0
	if got := c.turns(10*time.Second, nil); len(got) > 11 {
		t.Errorf("%d turns in 10 s at 1 per second", len(got))
	}
}

func podsWaitForRoomWithoutARateToo(t *testing.T) {
	c := changingFrom(pace{freedPerHour: 0.1})
	if !c.mayGo(podNamed("raise"), need{}) {
		t.Error("a pod waits that frees nothing")
	}
	c.wait(t, "lower", 100, cores(1))
	if got := c.turns(time.Hour, nil); len(got) != 10 {
		t.Errorf("%d turns, want 10", len(got))
	}
}

func aFailedTurnFreesNothing(t *testing.T) {
	c := changingFrom(pace{perSecond: 1, freedPerHour: 0.1})
	c.wait(t, "lower", 20, cores(1))
	if got := c.turns(time.Minute, errRefused); len(got) != 20 {
		t.Errorf("%d turns, want 20", len(got))
	}
	c.wait(t, "lower", 20, cores(1))
	if got := c.turns(time.Minute, nil); len(got) != 10 {
		t.Errorf("%d turns of pods that failed before, want 10", len(got))
	}
	c.mayGo(podNamed("raise"), need{})
	c.turns(time.Minute, errRefused)
	c.mayGo(podNamed("raise"), need{})
	if got := c.turns(time.Minute, nil); len(got) != 1 || got[0] != "raise" {
		t.Errorf("%q have their turns, want raise", got)
	}
}

func aLimitThatIsSetLaterCountsWhatWasFreedBefore(t *testing.T) {
	c := changingFrom(pace{perSecond: 1})
	c.now.freedPerHour = 0.1
	if c.counts() {
		t.Error("what was freed before is known")
	}
	c.wait(t, "lower", 10, cores(1))
	if got := c.turns(time.Minute, nil); len(got) != 0 {
		t.Errorf("%d turns although it is not known what was freed", len(got))
	}
	c.recall([]resizedBefore{{cores(8), podtest.Start}})
	if got := c.turns(time.Minute, nil); len(got) != 2 {
		t.Errorf("%d turns, want 2", len(got))
	}
}

func theLowestRateIsOneTurnADay(t *testing.T) {
	for rate, want := range map[float64]time.Duration{0: 0, 1e-300: 24 * time.Hour, 0.5: 2 * time.Second, 1e5: 10 * time.Microsecond} {
		if got := (pace{perSecond: rate}).pause(); got != want {
			t.Errorf("%v turns per second are %v apart", rate, got)
		}
	}
}

// The turns of refused pods go to the others at any rate.
func aChangedRateCountsAmongRefusedPods(t *testing.T) {
	w := newPacedWorld(t)
	refusedPods(2000)(w)
	w.add(10_000, pacedPod{wrong: 1})
	w.run(3 * time.Minute) // All turns are made up for.
	for _, rate := range []float64{5, 40, 0.5, 10, pacedRate} {
		moved := len(w.moved)
		w.pace.perSecond = rate
		w.run(time.Minute)
		if got, want := float64(len(w.moved)-moved), 60*rate; got < 0.9*want-1 || got > want+pacedWorkers {
			t.Errorf("%v pods are moved in a minute at %v per second", got, rate)
		}
	}
}

// The loop may be busy with the pods that a change affects, and see the pace only when it is as before.
func aLimitThatWasUnsetForAMoment(t *testing.T) {
	l := filled(t, nil, nil)
	now, same := pace{freedPerHour: 0.25}, l.pace()
	l.pacer.rates = func() pace { return now }
	l.pacer.recall(nil)
	for _, limit := range []float64{0.25, 0, 0.25} {
		now.freedPerHour = limit
		l.pacer.mayGo(podNamed("web"), need{})
	}
	if l.followPace(t.Context(), same); !l.pacer.counts() {
		t.Error("pods that free room wait until another replica leads")
	}
}

func TestWaits(t *testing.T) {
	t.Run("says what a pod waits for", saysWhatAPodWaitsFor)
	t.Run("says when a pod has room as the pacer gives it", saysWhenAPodHasRoom)
	t.Run("says it only of pods that wait", saysItOnlyOfPodsThatWait)
}

func saysWhatAPodWaitsFor(t *testing.T) {
	const rate = "pods that can wait are resized at 0.5 per second (pace.resizesPerSecond)"
	const full = "what resizes have freed within the last hour leaves too little of pace.freedPerHour (10% of all nodes): the pod is resized "
	later := podtest.Start.Truncate(time.Minute).Add(61 * time.Minute).UTC().Format(time.RFC3339)
	c := changingFrom(pace{perSecond: 0.5, freedPerHour: 0.1})
	check := func(pod, want string) {
		t.Helper()
		if got := c.waits(podNamed(pod)); got != want {
			t.Errorf("%s waits: %q, want %q", pod, got, want)
		}
	}
	check("lower-0", "")
	c.wait(t, "lower", 20, cores(1))
	c.wait(t, "raise", 2, node.Resources{})
	check("lower-0", rate)
	if got := c.turns(30*time.Second, nil); len(got) != 12 {
		t.Fatalf("%d turns, want 2 of pods that free nothing and 10 of others", len(got))
	}
	check("lower-0", "")
	check("lower-10", full+"at "+later+" or later")
	c.wait(t, "raise", 1, node.Resources{})
	check("raise-0", rate)
	c.turns(2*time.Second, errRefused)
	c.wait(t, "raise", 1, node.Resources{})
	check("raise-0", rate+", and the last attempt failed, so other pods come first")
	c.freed.forget()
	check("lower-10", full+"once the leader has counted what was freed before")
	c.now = pace{}
	check("lower-10", "")
}

func saysWhenAPodHasRoom(t *testing.T) {
	f := counting(cores(100), podtest.Start)
	for minute, freed := range []int64{3, 0, 7, 1, 0, 9, 5} {
		now := podtest.Start.Add(time.Duration(minute) * time.Minute)
		f.advance(now)
		f.add(cores(freed), now)
	}
	now := podtest.Start.Add(6*time.Minute + 20*time.Second)
	for _, frees := range []int64{1, 3, 4, 10, 11, 12, 20, 25, 60} {
		if f.fits(cores(frees), 0.25, now) {
			t.Fatalf("%d cores fit already", frees)
		}
		at, trial := f.fitsAt(cores(frees), 0.25, now), *f
		if trial.fits(cores(frees), 0.25, at.Add(-time.Second)) {
			t.Errorf("%d cores fit before %v", frees, at)
		}
		if !trial.fits(cores(frees), 0.25, at) {
			t.Errorf("%d cores do not fit at %v", frees, at)
		}
	}
}

func saysItOnlyOfPodsThatWait(t *testing.T) {
	old := podtest.Pod(podtest.Amounts{"1", "1", "1Gi", "1Gi"}, podtest.AsCreated)
	old.CreationTimestamp = metav1.NewTime(podtest.Start.Add(-time.Hour))
	l := filled(t, []*corev1.Pod{old}, []*corev1.Node{clustertest.Node("node", "n4", "8")})
	rules, _ := l.Cluster.Rules()
	planned := func() *plan.Plan {
		return l.Planner.Plan(l.Cluster.Snapshot(l.Cluster.Pods(old.Namespace).Get(old.Name), rules))
	}
	if p := planned(); !p.Paced() {
		t.Fatalf("the pod need not wait: %+v", p)
	}
	l.pacer.rates = func() pace { return pace{2, 0.25} }
	if got := l.Waits(planned()); got != "" {
		t.Errorf("a pod waits that has not been looked at yet: %s", got)
	}
	l.pacer.mayGo(planned().Pod, need{frees: planned().Frees()})
	if got, want := l.Waits(planned()), "what resizes have freed within the last hour leaves too little of pace.freedPerHour (25% of all nodes): the pod is resized once the leader has counted what was freed before"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	l.Leader = following(true)
	if got, want := l.Waits(planned()), "pods that can wait are resized at 2 per second (pace.resizesPerSecond); within an hour, resizes may free as much as pace.freedPerHour (25% of all nodes) allows"; got != want {
		t.Errorf("another replica says %q, want %q", got, want)
	}
	l.DryRun = true
	if got := l.Waits(planned()); got != "" {
		t.Errorf("a pod waits although nothing is written: %s", got)
	}
	fresh := planned()
	fresh.Decision = plan.Align
	if l.DryRun = false; l.Waits(fresh) != "" {
		t.Error("a pod waits that needs no resize")
	}
}

func aFasterPaceCountsForPodsThatFailed(t *testing.T) {
	c := changingFrom(pace{perSecond: 0.001})
	c.wait(t, "pod", 1, node.Resources{})
	if got := c.turns(1000*time.Second, errRefused); len(got) != 1 {
		t.Fatalf("%d turns in 1,000 s at 1 in 1,000 s", len(got))
	}
	c.wait(t, "pod", 1, node.Resources{})
	c.now.perSecond = 1
	if got := c.turns(failedShare*time.Second, nil); len(got) != 1 {
		t.Errorf("%d turns in %d s at 1 per second", len(got), failedShare)
	}
}

func aPodFreesAsMuchAsItsLastPlanSays(t *testing.T) {
	c := changingFrom(pace{perSecond: 1, freedPerHour: 0.5})
	c.wait(t, "lower", 1, cores(1))
	c.clock.Step(time.Second)
	pod, wait := c.next()
	if wait != 0 || !c.mayGo(pod, need{frees: cores(3)}) {
		t.Fatalf("it waits for %v", wait)
	}
	c.used(pod, nil)
	if cpu, _ := c.freedShares(); cpu != 0.03 {
		t.Errorf("a share of %v was freed, want 0.03", cpu)
	}
}

func aNewPaceWakesThePodsThatWait(t *testing.T) {
	l := filled(t, nil, nil)
	l.pacer.recall(nil)
	<-l.pacer.changed
	if l.followPace(t.Context(), l.pace()); len(l.pacer.changed) != 0 {
		t.Error("it wakes them although the pace is the same")
	}
	if l.followPace(t.Context(), pace{perSecond: 7}); len(l.pacer.changed) != 1 {
		t.Error("it does not wake them")
	}
}
