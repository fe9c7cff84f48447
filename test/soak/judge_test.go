package main

import (
	"context"
	"math/big"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/test/oracle"
)

const within = 5 * time.Second

// court is a judge with pod events from a test.
type court struct {
	*testing.T
	*judge
}

// inCourt runs a test with a fake clock. The first ratio of n4 is 1.25.
func inCourt(t *testing.T, test func(court)) {
	synctest.Test(t, func(t *testing.T) {
		c := court{t, newJudge(&history{ratios: map[string][]inForce{}}, &outages{}, within, 20)}
		c.set("1.25")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go c.sweep(ctx)
		test(c)
	})
}

func (c court) set(cpu string) {
	set := map[string]ratio{"n4": decimal(cpu, "1")}
	c.history.begin(set)
	c.history.done(set)
}

// pod returns a running pod with the size that a ratio gives.
func (c court) pod(name, cpu string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{typeLabel: "n4", shapeLabel: "guaranteed"}}}
	pod.Status.Phase = corev1.PodRunning
	written := shapes["guaranteed"][0]
	size, _ := oracle.Written(&written)
	amounts := corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(oracle.CPU(size, new(big.Rat).Inv(decimal(cpu, "1").cpu), cpuBounds).Request, resource.DecimalSI),
		corev1.ResourceMemory: *written.Resources.Requests.Memory(),
	}
	pod.Spec.Containers = []corev1.Container{{Name: written.Name, Resources: corev1.ResourceRequirements{Requests: amounts, Limits: amounts}}}
	return pod
}

func (c court) add(pod *corev1.Pod)            { c.handler().OnAdd(pod, false) }
func (c court) update(before, now *corev1.Pod) { c.handler().OnUpdate(before, now) }
func (c court) remove(pod *corev1.Pod)         { c.handler().OnDelete(pod) }

// wants checks the number of problems so far.
func (c court) wants(problems int, why string) {
	c.Helper()
	synctest.Wait()
	if _, _, got := c.tally(); len(got) != problems {
		c.Errorf("%s: %d problems, want %d: %q", why, len(got), problems, got)
	}
}

func TestJudge(t *testing.T) {
	t.Run("a size stays correct for a while after its ratio is replaced", aSizeStaysCorrectForAWhileAfterItsRatioIsReplaced)
	t.Run("a pod that is not sized in time is a problem", aPodThatIsNotSizedInTimeIsAProblem)
	t.Run("pods that have been sized wait for their turn", podsThatHaveBeenSizedWaitForTheirTurn)
	t.Run("overlapping outages count once", overlappingOutagesCountOnce)
}

func aSizeStaysCorrectForAWhileAfterItsRatioIsReplaced(t *testing.T) {
	inCourt(t, func(c court) {
		given := 0
		give := func(cpu string) {
			given++
			pod := c.pod("p", cpu)
			pod.UID = types.UID(cpu + string(rune('a'+given)))
			c.add(pod)
			c.remove(pod)
		}
		give("1.25")
		c.wants(0, "the ratio in effect")
		give("2")
		c.wants(1, "a ratio that is not set yet")
		two := map[string]ratio{"n4": decimal("2", "1")}
		c.history.begin(two)
		give("2")
		time.Sleep(2 * within)
		give("1.25")
		c.wants(1, "both ratios during a replacement")
		c.history.done(two)
		time.Sleep(within)
		give("1.25")
		c.wants(1, "a resize that was in flight")
		time.Sleep(time.Second)
		give("1.25")
		c.wants(2, "a ratio that was replaced earlier")
		over := c.outages.begin()
		time.Sleep(time.Minute)
		give("2")
		over()
		c.set("1.5")
		time.Sleep(recovery + within)
		give("2")
		c.wants(2, "an outage and its recovery do not count")
		time.Sleep(time.Second)
		give("2")
		c.wants(3, "the time after the recovery counts")
	})
}

func aPodThatIsNotSizedInTimeIsAProblem(t *testing.T) {
	for _, tc := range []struct {
		name     string
		fate     func(court, *corev1.Pod)
		problems int
		want     sizings
	}{
		{"sized immediately", func(c court, pod *corev1.Pod) {
			time.Sleep(2 * time.Second)
			c.update(pod, c.pod("p", "1.25"))
			time.Sleep(time.Hour)
			c.remove(c.pod("p", "1.25"))
		}, 0, sizings{Ran: 1, Needed: 1, Sized: 1, First: latencies{1, 2, 2, 2}}},
		{"never sized", func(c court, _ *corev1.Pod) {
			time.Sleep(within + 2*sweepPeriod)
		}, 1, sizings{Ran: 1, Needed: 1}},
		{"not sized until it ends", func(c court, pod *corev1.Pod) {
			time.Sleep(within + 1)
			c.remove(pod)
		}, 1, sizings{Ran: 1, Needed: 1, DiedOverdue: 1}},
		{"sized late", func(c court, pod *corev1.Pod) {
			time.Sleep(time.Minute)
			c.update(pod, c.pod("p", "1.25"))
		}, 1, sizings{Ran: 1, Needed: 1, Sized: 1, First: latencies{1, 60, 60, 60}}},
		{"ended too early to be judged", func(c court, pod *corev1.Pod) {
			time.Sleep(within - 1)
			c.remove(pod)
		}, 0, sizings{Ran: 1, Needed: 1, DiedYoung: 1}},
		{"ended in an outage", func(c court, pod *corev1.Pod) {
			defer c.outages.begin()()
			time.Sleep(time.Minute)
			c.remove(pod)
		}, 0, sizings{Ran: 1, Needed: 1, DiedInOutage: 1}},
		{"sized after an outage", func(c court, pod *corev1.Pod) {
			over := c.outages.begin()
			time.Sleep(time.Minute)
			over()
			time.Sleep(recovery - 1)
			c.update(pod, c.pod("p", "1.25"))
		}, 0, sizings{Ran: 1, Needed: 1, Sized: 1}},
		{"not sized for long after an outage", func(c court, _ *corev1.Pod) {
			c.outages.begin()()
			time.Sleep(recovery + within + 2*sweepPeriod)
		}, 1, sizings{Ran: 1, Needed: 1}},
		{"correct as written", func(c court, pod *corev1.Pod) {
			c.remove(pod)
			c.set("1")
			c.add(c.pod("q", "1"))
			time.Sleep(time.Hour)
			c.remove(c.pod("q", "1"))
		}, 0, sizings{Ran: 2, Needed: 1, DiedYoung: 1}},
		{"deleted twice", func(c court, pod *corev1.Pod) {
			c.remove(pod)
			c.remove(pod)
		}, 0, sizings{Ran: 1, Needed: 1, DiedYoung: 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inCourt(t, func(c court) {
				pending := c.pod("p", "1")
				pending.Status.Phase = corev1.PodPending
				c.add(pending)
				time.Sleep(time.Minute) // A pending pod is not late.
				pod := c.pod("p", "1")
				c.update(pending, pod)
				tc.fate(c, pod)
				c.wants(tc.problems, "at the end")
				if got := c.fared(); got != tc.want {
					t.Errorf("sizings: %+v, want %+v", got, tc.want)
				}
			})
		})
	}
}

// At this rate, a population of 20 is sized again within a second.
func podsThatHaveBeenSizedWaitForTheirTurn(t *testing.T) {
	for _, tc := range []struct {
		name     string
		sized    time.Duration
		problems int
	}{
		{"in time", within + time.Second, 0},
		{"late", within + 4*time.Second, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inCourt(t, func(c court) {
				c.add(c.pod("p", "1.25"))
				c.set("2")
				time.Sleep(tc.sized)
				c.update(c.pod("p", "1.25"), c.pod("p", "2"))
				c.wants(tc.problems, "at the end")
				if got := c.fared(); got.Again.Count != 1 || got.First.Count != 1 || got.First.Max != 0 {
					t.Errorf("sizings: %+v", got)
				}
			})
		})
	}
}

func overlappingOutagesCountOnce(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	o := &outages{all: []outage{{at(100), at(110)}, {at(120), at(130)}, {at(200), time.Time{}}}}
	for _, tc := range []struct{ from, to, want int }{
		{0, 50, 50}, {0, 100, 100}, {0, 105, 100}, {0, 180, 120}, {105, 150, 0}, {150, 170, 10}, {170, 300, 30}, {210, 220, 0}, {50, 40, 0},
	} {
		if got := o.outside(at(tc.from), at(tc.to)); got != time.Duration(tc.want)*time.Second {
			t.Errorf("from %d to %d, %v are outside of outages, want %d s", tc.from, tc.to, got, tc.want)
		}
		if got, want := o.touch(at(tc.from), at(tc.to)), tc.from < tc.to && tc.want < tc.to-tc.from; tc.want != 100 && got != want {
			t.Errorf("from %d to %d touches an outage: %t", tc.from, tc.to, got)
		}
	}
	if !o.touch(at(105), at(105)) || o.touch(at(99), at(99)) {
		t.Error("touch is wrong for a single moment")
	}
}

func TestLatencies(t *testing.T) {
	var all []time.Duration
	for s := range 100 {
		all = append(all, time.Duration(s+1)*time.Second)
	}
	slices.Reverse(all)
	if got, want := latenciesOf(all), (latencies{100, 50, 99, 100}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := latenciesOf(nil); got != (latencies{}) {
		t.Errorf("latencies of no samples: %+v", got)
	}
}
