package loop

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

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
	c.wait(t, "raise", 2, safety.Resources{})
	check("lower-0", rate)
	if got := c.turns(30*time.Second, nil); len(got) != 12 {
		t.Fatalf("%d turns, want 2 of pods that free nothing and 10 of others", len(got))
	}
	check("lower-0", "")
	check("lower-10", full+"at "+later+" or later")
	c.wait(t, "raise", 1, safety.Resources{})
	check("raise-0", rate)
	c.turns(2*time.Second, errRefused)
	c.wait(t, "raise", 1, safety.Resources{})
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
