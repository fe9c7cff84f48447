package loop

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

func TestFreed(t *testing.T) {
	t.Run("permits a share within any hour", permitsAShareWithinAnyHour)
	t.Run("permits a pod that frees more than the share once nothing was freed for an hour", permitsAPodThatFreesMoreThanTheShare)
	t.Run("limits each resource by itself", limitsEachResourceByItself)
	t.Run("sums up the nodes again from time to time", sumsUpTheNodesAgainFromTimeToTime)
	t.Run("counts resizes of the future from now on", countsResizesOfTheFutureFromNowOn)
	t.Run("recalls what the pods say", recallsWhatThePodsSay)
}

// cores returns that much cpu.
func cores(n int64) node.Resources { return node.Resources{CPU: 1000 * n} }

// counting returns an empty count in a cluster with this much.
func counting(total node.Resources, now time.Time) *freed {
	f := &freed{allocatable: func() node.Resources { return total }, known: true}
	f.advance(now)
	return f
}

func permitsAShareWithinAnyHour(t *testing.T) {
	f := counting(cores(100), podtest.Start)
	type event struct {
		at    time.Time
		cores int64
	}
	var all []event
	for minute := range 6 * 60 {
		for i := range 20 {
			now := podtest.Start.Add(time.Duration(minute)*time.Minute + time.Duration(3*i)*time.Second)
			of := int64(1 + (minute*7+i*3)%4)
			if !f.fits(cores(of), 0.25, now) {
				continue
			}
			holder := &turn{}
			f.hold(holder, cores(of))
			f.spend(holder, now)
			all = append(all, event{now, of})
		}
	}
	var total int64
	for i, first := range all {
		total += first.cores
		sum := int64(0)
		for _, e := range all[i:] {
			if e.at.Sub(first.at) < time.Hour {
				sum += e.cores
			}
		}
		if sum > 25 {
			t.Fatalf("%d cores freed within the hour from %s", sum, first.at)
		}
	}
	if total < 5*23 {
		t.Errorf("%d cores freed in 6 hours, which is not nearly what is permitted", total)
	}
	if f.underWay != (node.Resources{}) {
		t.Errorf("%v is under way", f.underWay)
	}
}

func permitsAPodThatFreesMoreThanTheShare(t *testing.T) {
	f, now := counting(cores(100), podtest.Start), podtest.Start
	f.add(cores(1), now)
	for _, tc := range []struct {
		after time.Duration
		fits  bool
	}{{time.Minute, false}, {time.Hour, false}, {time.Hour + time.Minute, true}} {
		if got := f.fits(cores(30), 0.25, now.Add(tc.after)); got != tc.fits {
			t.Errorf("after %v: %t", tc.after, got)
		}
	}
	now = now.Add(2 * time.Hour)
	large := &turn{}
	if f.hold(large, cores(30)); f.fits(cores(1), 0.25, now) {
		t.Error("another pod may free more meanwhile")
	}
	if f.hold(large, node.Resources{}); !f.fits(cores(25), 0.25, now) {
		t.Error("what was not freed counts")
	}
}

func limitsEachResourceByItself(t *testing.T) {
	total := node.Resources{CPU: 1000, Memory: 1000}
	for _, tc := range []struct {
		name        string
		total       node.Resources
		has, frees  node.Resources
		share       float64
		unknown     bool
		fits, after bool
	}{
		{name: "nothing was freed", total: total, frees: node.Resources{CPU: 100, Memory: 100}, share: 0.1, fits: true, after: true},
		{name: "a bit more than the share", total: total, has: node.Resources{CPU: 1}, frees: node.Resources{CPU: 100}, share: 0.1, after: true},
		{name: "the rest of the share", total: total, has: node.Resources{CPU: 1}, frees: node.Resources{CPU: 99}, share: 0.1, fits: true, after: true},
		{name: "the other resource", total: total, has: node.Resources{CPU: 100}, frees: node.Resources{Memory: 100}, share: 0.1, fits: true, after: true},
		{name: "the other resource, of which more than the share was freed", total: total, has: node.Resources{CPU: 150}, frees: node.Resources{Memory: 100}, share: 0.1, fits: true, after: true},
		{name: "both resources", total: total, has: node.Resources{CPU: 100}, frees: node.Resources{CPU: 1, Memory: 100}, share: 0.1, after: true},
		{name: "a pod that frees nothing", total: total, has: node.Resources{CPU: 100, Memory: 100}, share: 0.1, fits: true, after: true},
		{name: "no limit", total: total, has: node.Resources{CPU: 1000}, frees: node.Resources{CPU: 1000}, fits: true, after: true},
		{name: "all of it", total: total, has: node.Resources{CPU: 500}, frees: node.Resources{CPU: 501}, share: 1, after: true},
		{name: "no node says how much it has", has: node.Resources{CPU: 1000}, frees: node.Resources{CPU: 1000}, share: 0.1, fits: true, after: true},
		{name: "a pod that frees nothing, and others may have freed all of it", total: total, share: 0.1, unknown: true, fits: true, after: true},
		{name: "others may have freed all of it", total: total, frees: node.Resources{CPU: 1}, share: 0.1, unknown: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := counting(tc.total, podtest.Start)
			f.known = !tc.unknown
			f.add(tc.has, podtest.Start)
			if got := f.fits(tc.frees, tc.share, podtest.Start); got != tc.fits {
				t.Errorf("it fits: %t", got)
			}
			if got := f.fits(tc.frees, tc.share, podtest.Start.Add(61*time.Minute)); got != tc.after {
				t.Errorf("it fits after an hour: %t", got)
			}
		})
	}
}

func sumsUpTheNodesAgainFromTimeToTime(t *testing.T) {
	sums, total := 0, cores(10)
	f := &freed{known: true, allocatable: func() node.Resources { sums++; return total }}
	now := podtest.Start
	for range 1000 {
		f.fits(cores(2), 0.1, now)
	}
	if sums != 1 {
		t.Errorf("%d sums for 1,000 pods", sums)
	}
	f.add(cores(1), now)
	total = cores(30)
	if now = now.Add(totalFor); !f.fits(cores(2), 0.1, now) {
		t.Error("new nodes do not count")
	}
	total = cores(90)
	if f.fits(cores(5), 0.1, now.Add(-time.Hour)); sums != 3 {
		t.Errorf("%d sums after the clock went back, want 3", sums)
	}
}

// The clock of the API server, which says when pods were resized, may be ahead.
func countsResizesOfTheFutureFromNowOn(t *testing.T) {
	f := counting(cores(100), podtest.Start)
	f.add(cores(10), podtest.Start.Add(10*time.Minute))
	for after, fits := range map[time.Duration]bool{time.Minute: false, 30 * time.Minute: false, 62 * time.Minute: true} {
		f := *f
		if got := f.fits(cores(1), 0.1, podtest.Start.Add(after)); got != fits {
			t.Errorf("after %v: %t", after, got)
		}
	}
}

// A new leader does not begin with a full hour.
func recallsWhatThePodsSay(t *testing.T) {
	lowered, raised := podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, podtest.Amounts{"1500m", "1500m", "512Mi", "512Mi"}
	for _, tc := range []struct {
		name        string
		pod         *corev1.Pod
		created     time.Duration
		later       time.Duration
		cpu, memory float64
	}{
		{name: "a pod that was lowered", pod: podtest.Pod(lowered, podtest.SizedForN4, podtest.AsResized), created: -time.Hour, cpu: 0.2 / 8},
		{name: "at the end of the hour", pod: podtest.Pod(lowered, podtest.SizedForN4, podtest.AsResized), created: -time.Hour, later: 59 * time.Minute, cpu: 0.2 / 8},
		{name: "after the hour", pod: podtest.Pod(lowered, podtest.SizedForN4, podtest.AsResized), created: -time.Hour, later: 61 * time.Minute},
		{name: "a pod that was new", pod: podtest.Pod(lowered, podtest.SizedForN4, podtest.AsResized)},
		{name: "a pod that got more cpu and less memory", pod: podtest.Pod(raised, podtest.SizedForN4, podtest.AsResized), created: -time.Hour, memory: 0.5 / 64},
		{name: "a pod whose record claims more than its node has", created: -time.Hour, cpu: 1, pod: podtest.Pod(lowered, podtest.SizedForN4, podtest.AsResized,
			podtest.ManagedBy(podtest.ResizeOf(10, "app"), podtest.Managed(contract.FieldManager, "", 11, contract.AppliedSizes)),
			podtest.Annotated("applied-sizes", "app 0 cpu 100000/100000>800m/800m memory 1Gi/1Gi"))},
		{name: "a pod that was never resized", pod: podtest.Pod(lowered, podtest.AsCreated), created: -time.Hour},
		{name: "a pod with a sidecar container that got what the other gave", created: -time.Hour, pod: podtest.Pod(lowered, podtest.SizedForN4, podtest.AsResized,
			podtest.WithSecond(podtest.Amounts{"300m", "300m", "64Mi", "64Mi"}), podtest.ManagedBy(podtest.ResizeOf(10, "app", "second")),
			podtest.Annotated("original-cpu.second", "100m", "original-cpu-limit.second", "100m", "original-memory.second", "64Mi", "original-memory-limit.second", "64Mi"))},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.pod.CreationTimestamp = metav1.NewTime(podtest.Start.Add(tc.created))
			l := filled(t, []*corev1.Pod{tc.pod}, []*corev1.Node{clustertest.Node("node", "n4", "8")})
			clustertest.Clock(l.Cluster).Step(time.Minute + tc.later)
			l.Leader = following(false)
			l.leaderChanged()
			if cpu, memory := l.pacer.freedShares(); cpu != tc.cpu || memory != tc.memory {
				t.Errorf("freed %v of the cpu and %v of the memory, want %v and %v", cpu, memory, tc.cpu, tc.memory)
			}
			l.Leader = following(true)
			l.leaderChanged()
			if l.pacer.counts() {
				t.Error("it counts although another replica leads")
			}
		})
	}
}
