package workload_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

func web(n int) workload.Group {
	return workload.Group{Namespace: "shop", Workload: workload.Workload{Kind: "Deployment", Name: fmt.Sprintf("web-%04d", n)}}
}

// seen is a pod that was resized at a second. If it was reverted, at the second after that.
func seen(name string, at int, reverted ...string) *pod.Pod {
	changes := []func(*corev1.Pod){
		podtest.Annotated("original-cpu.app", "1", "original-memory.app", "1Gi", "applied-instance-type", "n4", "applied-at", podtest.At(at).Format(time.RFC3339)),
		podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(at, "app"), podtest.Managed(contract.FieldManager, "", at, contract.AppliedAt, contract.Reverts, contract.OriginalPrefix+"cpu.app")),
		func(p *corev1.Pod) { p.Name, p.UID = name, types.UID("uid-of-"+name) },
	}
	var all []string
	for i, resource := range reverted {
		all = append(all, fmt.Sprintf(`{"at":%q,"container":"app","resource":%q,"hurt":"800m/800m","back":"1/1","times":1,"harm":"OOMKilled","message":""}`,
			podtest.At(at+1+i).Format(time.RFC3339), resource))
	}
	if all != nil {
		changes = append(changes, podtest.Annotated("reverted", "["+strings.Join(all, ",")+"]"))
	}
	return pod.From(podtest.Pod(podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, changes...))
}

// revertedLater is a pod that was resized at a second, and reverted at another.
func revertedLater(name string, at, reverted int) *pod.Pod {
	of := podtest.Pod(podtest.Amounts{"1", "1", "1Gi", "1Gi"},
		podtest.Annotated("original-cpu.app", "1", "applied-instance-type", "n4", "applied-at", podtest.At(at).Format(time.RFC3339),
			"reverted", fmt.Sprintf(`[{"at":%q,"container":"app","resource":"cpu","hurt":"800m/800m","back":"1/1","times":1,"harm":"OOMKilled","message":""}]`, podtest.At(reverted).Format(time.RFC3339))),
		podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(reverted, "app"), podtest.Managed(contract.FieldManager, "", at, contract.AppliedAt, contract.Reverts, contract.OriginalPrefix+"cpu.app")),
		func(p *corev1.Pod) { p.Name, p.UID = name, types.UID("uid-of-"+name) })
	return pod.From(of)
}

// window is how long resizes are observed, and atTheEnd is later than all of them.
const window = 5 * time.Minute

var atTheEnd = podtest.At(10_000)

// never is when a breaker was reset that never was.
func never(workload.Group) time.Time { return time.Time{} }

// TestWorkloadBreaker has an outcome per letter, of a pod each: a resize (r), or one that is
// reverted (R).
func TestWorkloadBreaker(t *testing.T) {
	for outcomes, opens := range map[string]bool{
		"": false, "r": false, "R": false, "RR": false, "RRrrr": false, "rRrRr": false,
		"RRR": true, "RrRrR": true, "RRRrr": true, "rrrrrRRR": true, "RRRrrr": false, "RRRrrrRR": false, "RrRrRr": false, "RRRRRrr": true,
	} {
		o := workload.NewOutcomes()
		for i, c := range outcomes {
			name := fmt.Sprintf("web-%d", i)
			if first := o.See(web(0), seen(name, 10*i), window, atTheEnd); first {
				t.Errorf("%s: a resize is a revert", outcomes)
			}
			if c == 'R' && (!o.See(web(0), seen(name, 10*i, "cpu"), window, atTheEnd) || o.See(web(0), seen(name, 10*i, "cpu"), window, atTheEnd)) {
				t.Errorf("%s: outcome %d is not reported as a revert once", outcomes, i)
			}
		}
		trips := o.Trips(podtest.At(1000), never)
		if len(trips) > 0 != opens {
			t.Errorf("%s: opens %v, want %t", outcomes, trips, opens)
		}
	}
	t.Run("evictions without a ready replacement count as reverts", func(t *testing.T) {
		o := workload.NewOutcomes()
		for i := range 3 {
			e := workload.Eviction{Pod: fmt.Sprintf("web-%d", i), UID: types.UID(fmt.Sprintf("uid-%d", i)), At: podtest.At(100 * i)}
			if o.Evicted(web(0), e, atTheEnd) {
				t.Error("an eviction is a revert")
			}
			if trips := o.Trips(podtest.At(1000), never); len(trips) > 0 {
				t.Errorf("opens %v", trips)
			}
			e.Missed = podtest.At(100*i + 60)
			if !o.Evicted(web(0), e, atTheEnd) || o.Evicted(web(0), e, atTheEnd) {
				t.Errorf("eviction %d is not reported as a revert once", i)
			}
		}
		if trips := o.Trips(podtest.At(1000), never); len(trips) != 1 || trips[0].Reason != "3 of the last 3 resizes were reverted: web-0 (Evicted), web-1 (Evicted), web-2 (Evicted)" {
			t.Errorf("opens %v", trips)
		}
	})
	three := func() *workload.Outcomes {
		o := workload.NewOutcomes()
		for i := range 4 {
			o.See(web(0), seen(fmt.Sprintf("web-%d", i), 10*i, []string{"cpu"}[min(i, 1):]...), window, atTheEnd)
		}
		return o
	}
	t.Run("says why", func(t *testing.T) {
		o := three()
		o.See(web(0), seen("web-1", 10, "memory"), window, atTheEnd)
		o.See(web(0), seen("web-2", 20, "cpu"), window, atTheEnd)
		want := []workload.Trip{{Group: web(0), Reason: "3 of the last 4 resizes were reverted: web-0 (OOMKilled), web-1 (OOMKilled), web-2 (OOMKilled)", Known: podtest.At(21)}}
		if diff := cmp.Diff(want, o.Trips(podtest.At(1000), never)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("names fit into a reason", func(t *testing.T) {
		o := workload.NewOutcomes()
		for i := range 3 {
			o.See(web(0), seen(strings.Repeat("a", 250)+fmt.Sprint(i), 10*i, "cpu"), window, atTheEnd)
		}
		if trips := o.Trips(podtest.At(1000), never); len(trips) != 1 || trips[0].Reason != "3 of the last 3 resizes were reverted" {
			t.Errorf("%v", trips)
		}
	})
	t.Run("a resize of which everything is reverted, one by one, counts once", func(t *testing.T) {
		o := three()
		for i := range 2 {
			o.See(web(0), seen(fmt.Sprint("web-", i), 10*i, "memory"), window, atTheEnd)
			o.See(web(0), seen(fmt.Sprint("web-", i), 10*i, "memory", "cpu"), window, atTheEnd)
		}
		if trips := o.Trips(podtest.At(1000), never); len(trips) > 0 {
			t.Errorf("%v", trips)
		}
	})
	t.Run("each revert of the same pod counts", func(t *testing.T) {
		o := workload.NewOutcomes()
		for i := range 3 {
			if trips := o.Trips(podtest.At(10000), never); len(trips) > 0 {
				t.Errorf("after %d: %v", i, trips)
			}
			o.See(web(0), seen("web-0", 1000*i), window, atTheEnd)
			o.See(web(0), seen("web-0", 1000*i, "cpu"), window, atTheEnd)
		}
		if trips := o.Trips(podtest.At(10000), never); len(trips) != 1 {
			t.Errorf("%v", trips)
		}
	})
	t.Run("nothing counts that became known before it was reset", func(t *testing.T) {
		o := workload.NewOutcomes()
		for i := range 5 {
			o.See(web(0), seen(fmt.Sprint("web-", i), 10*i, "cpu"), window, atTheEnd)
		}
		for at, opens := range map[int]bool{0: true, 20: true, 21: false, 41: false} {
			since := func(of workload.Group) time.Time {
				if of == web(0) {
					return podtest.At(at)
				}
				return time.Time{}
			}
			if trips := o.Trips(podtest.At(1000), since); len(trips) > 0 != opens {
				t.Errorf("reset at %d: %v", at, trips)
			}
		}
	})
	t.Run("pods that must not count are forgotten", func(t *testing.T) {
		o := workload.NewOutcomes()
		for i := range 3 {
			o.See(web(0), seen(fmt.Sprint("web-", i), 10*i, "cpu"), window, atTheEnd)
		}
		o.Forget(web(0), seen("web-1", 10))
		o.Forget(web(1), seen("web-1", 10))
		if trips := o.Trips(podtest.At(1000), never); len(trips) > 0 {
			t.Errorf("%v", trips)
		}
	})
	t.Run("a pod that ended because of its resize counts as reverted", func(t *testing.T) {
		o := workload.NewOutcomes()
		job := func(name string, kill, record string, changes ...func(*corev1.Pod)) *pod.Pod {
			p := podtest.Pod(podtest.Amounts{"800m", "800m", "512Mi", "512Mi"},
				podtest.Annotated("original-memory.app", "1Gi", "original-memory-limit.app", "1Gi", "applied-instance-type", "n4", "applied-at", podtest.At(10).Format(time.RFC3339), "applied-sizes", record),
				podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(10, "app"), podtest.Managed(contract.FieldManager, "", 10, contract.AppliedAt, contract.AppliedSizes, contract.OriginalPrefix+"memory.app")),
				func(p *corev1.Pod) {
					p.Name, p.UID, p.Status.Phase = name, types.UID("uid-of-"+name), corev1.PodFailed
					p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", State: corev1.ContainerState{
						Terminated: &corev1.ContainerStateTerminated{Reason: kill, ExitCode: 137, FinishedAt: metav1.NewTime(podtest.At(40))}}}}
				})
			for _, change := range changes {
				change(p)
			}
			return pod.From(p)
		}
		lowered, raised := "app 0 cpu 800m/800m memory 1Gi/1Gi>512Mi/512Mi", "app 0 cpu 800m/800m memory 256Mi/256Mi>512Mi/512Mi"
		for i := range 3 {
			if o.See(web(0), job(fmt.Sprint("failed-", i), "Error", lowered), window, atTheEnd) || o.See(web(0), job(fmt.Sprint("raised-", i), "OOMKilled", raised), window, atTheEnd) ||
				o.See(web(0), job(fmt.Sprint("late-", i), "OOMKilled", lowered), 30*time.Second, atTheEnd) {
				t.Error("a different end counts as reverted")
			}
		}
		for i := range 3 {
			if killed := job(fmt.Sprint("killed-", i), "OOMKilled", lowered); !o.See(web(0), killed, window, atTheEnd) || o.See(web(0), killed, window, atTheEnd) {
				t.Error("it does not count once")
			}
		}
		if trips := o.Trips(podtest.At(1000), never); len(trips) != 1 || !trips[0].Known.Equal(podtest.At(40)) || !strings.Contains(trips[0].Reason, "killed-0 (OOMKilled)") {
			t.Errorf("%v", trips)
		}
		o = workload.NewOutcomes()
		recordedLater := podtest.Annotated("applied-at", podtest.At(50).Format(time.RFC3339))
		for i := range 3 {
			if o.See(web(0), job("killed", "OOMKilled", lowered, recordedLater), window, atTheEnd) != (i == 0) {
				t.Error("it counts again if it was killed before its resize was recorded")
			}
		}
		if trips := o.Trips(podtest.At(1000), never); len(trips) > 0 {
			t.Errorf("%v", trips)
		}
	})
	t.Run("the future does not count", func(t *testing.T) {
		o := workload.NewOutcomes()
		for i := range 3 {
			o.See(web(0), seen(fmt.Sprint("web-", i), 1000, "cpu"), window, podtest.At(940))
		}
		if trips := o.Trips(podtest.At(1000), never); len(trips) > 0 {
			t.Errorf("%v", trips)
		}
		for i := range 3 {
			o.See(web(0), seen(fmt.Sprint("web-", i), 1000, "cpu"), window, podtest.At(941))
		}
		if trips := o.Trips(podtest.At(1000), never); len(trips) != 1 {
			t.Errorf("%v", trips)
		}
	})
	t.Run("the other pods of its workload are not forgotten", func(t *testing.T) {
		o := workload.NewOutcomes()
		for i := range 4 {
			o.See(web(0), seen(fmt.Sprint("web-", i), 10*i, "cpu"), window, atTheEnd)
		}
		o.Forget(web(0), seen("web-1", 10))
		if trips := o.Trips(podtest.At(1000), never); len(trips) != 1 {
			t.Errorf("%v", trips)
		}
	})
	t.Run("a revert counts in the second in which the resize was recorded, or without that record", func(t *testing.T) {
		for name, applied := range map[string]string{"the same second": podtest.At(20).Format(time.RFC3339), "no record": ""} {
			o := workload.NewOutcomes()
			for i := range 5 {
				of := podtest.Pod(podtest.Amounts{"1", "1", "1Gi", "1Gi"}, podtest.Annotated("original-cpu.app", "1", "applied-instance-type", "n4", "applied-at", applied,
					"reverted", fmt.Sprintf(`[{"at":%q,"container":"app","resource":"cpu","hurt":"800m/800m","back":"1/1","times":1,"harm":"OOMKilled","message":""}]`, podtest.At(20).Format(time.RFC3339))),
					podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(20, "app"), podtest.Managed(contract.FieldManager, "", 20, contract.AppliedAt, contract.Reverts, contract.OriginalPrefix+"cpu.app")))
				of.UID = types.UID(fmt.Sprint(i))
				if !o.See(web(i), pod.From(of), window, atTheEnd) {
					t.Errorf("%s: it is no revert", name)
				}
			}
			if trips := o.Trips(podtest.At(3610), never); len(trips) == 0 {
				t.Errorf("%s: nothing opens", name)
			}
		}
	})
	t.Run("pods that were restored do not count", func(t *testing.T) {
		o := workload.NewOutcomes()
		for i := range 3 {
			o.See(web(0), seen(fmt.Sprint("web-", i), 10*i, "cpu"), window, atTheEnd)
		}
		for i := range 3 {
			restored := podtest.Pod(podtest.Guaranteed, podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(100+i, "app")))
			restored.UID = types.UID(fmt.Sprint("restored-", i))
			o.See(web(0), pod.From(restored), window, atTheEnd)
		}
		if trips := o.Trips(podtest.At(1000), never); len(trips) != 1 || !strings.HasPrefix(trips[0].Reason, "3 of the last 3") {
			t.Errorf("%v", trips)
		}
	})
	t.Run("pods that were not resized do not count", func(t *testing.T) {
		o := workload.NewOutcomes()
		if o.See(web(0), pod.From(podtest.Pod(podtest.Guaranteed, podtest.AsCreated)), window, atTheEnd) || len(o.Trips(podtest.At(1000), never)) > 0 {
			t.Error("it counts")
		}
	})
}

// A process that starts later, and sees pods in any order and repeatedly, decides as one that has
// seen everything.
func TestOutcomesAreTheSameInAllReplicas(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		first, later := workload.NewOutcomes(), workload.NewOutcomes()
		var events, last []*pod.Pod
		for i := range 12 {
			name := fmt.Sprint("web-", i)
			now := seen(name, random.IntN(5)*10)
			events = append(events, now)
			if random.IntN(3) == 0 {
				now = seen(name, int(now.ResizedAt().Sub(podtest.Start).Seconds()), "cpu")
				events = append(events, now)
			}
			last = append(last, now)
		}
		slices.SortStableFunc(events, func(a, b *pod.Pod) int { return a.ResizedAt().Compare(b.ResizedAt()) })
		for _, of := range events {
			first.See(web(0), of, window, atTheEnd)
		}
		for range 2 {
			random.Shuffle(len(last), func(i, j int) { last[i], last[j] = last[j], last[i] })
			for _, of := range last {
				later.See(web(0), of, window, atTheEnd)
			}
		}
		if diff := cmp.Diff(first.Trips(podtest.At(1000), never), later.Trips(podtest.At(1000), never)); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestNamespaceBreaker(t *testing.T) {
	// of returns outcomes of workloads that were resized at a second, the first of which were reverted.
	of := func(reverted, resized, at int) *workload.Outcomes {
		o := workload.NewOutcomes()
		for i := range resized {
			if i < reverted {
				o.See(web(i), seen("web", at, "cpu"), window, atTheEnd)
			} else {
				o.See(web(i), seen("web", at), window, atTheEnd)
			}
		}
		return o
	}
	shop := workload.Group{Namespace: "shop"}
	opens := func(o *workload.Outcomes, now int, reset time.Time) bool {
		trips := o.Trips(podtest.At(now), func(of workload.Group) time.Time {
			if of == shop {
				return reset
			}
			return time.Time{}
		})
		return len(trips) == 1 && trips[0].Group == shop
	}
	for _, tc := range []struct {
		reverted, resized, now int
		want                   bool
	}{
		{4, 4, 100, false}, {4, 80, 100, false}, {5, 5, 100, true}, {5, 99, 100, true}, {5, 100, 100, false}, {6, 119, 100, true}, {6, 120, 100, false},
		{50, 1000, 100, false}, {51, 1000, 100, true}, {5, 5, 3600, true}, {5, 5, 3601, false},
	} {
		if got := opens(of(tc.reverted, tc.resized, 1), tc.now, time.Time{}); got != tc.want {
			t.Errorf("%d of %d workloads, %d seconds later: opens %t", tc.reverted, tc.resized, tc.now-1, got)
		}
	}
	t.Run("a resize counts for as long as it is observed", func(t *testing.T) {
		for watched, want := range map[time.Duration]bool{time.Hour: false, 3 * time.Hour: true} {
			o := workload.NewOutcomes()
			for i := range 99 {
				o.See(web(i), seen("web", 1), watched, atTheEnd)
			}
			if opens(o, 7200, time.Time{}) {
				t.Errorf("window %v: it opens", watched)
			}
			for i := range 5 {
				o.See(web(i), revertedLater("web", 1, 7000), watched, atTheEnd)
			}
			if got := opens(o, 7200, time.Time{}); got != want {
				t.Errorf("window %v: opens %t, want %t", watched, got, want)
			}
			o.Prune(podtest.At(7200), func(workload.Group) bool { return false })
			if got := opens(o, 7200, time.Time{}); got != want {
				t.Errorf("window %v, without pods: opens %t, want %t", watched, got, want)
			}
		}
	})
	t.Run("nothing counts that became known before it was reset", func(t *testing.T) {
		o := of(5, 5, 1)
		if !opens(o, 100, podtest.At(1)) || opens(o, 100, podtest.At(2)) {
			t.Error("the reset does not count")
		}
	})
	t.Run("says how many, and names nobody", func(t *testing.T) {
		trips := of(5, 6, 1).Trips(podtest.At(100), never)
		want := []workload.Trip{{Group: shop, Reason: "of the 6 workloads that were resized lately, 5 had resizes that were reverted", Known: podtest.At(2)}}
		if diff := cmp.Diff(want, trips); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("the rate does not rise as resizes become old", func(t *testing.T) {
		o := workload.NewOutcomes()
		for i := range 500 { // 4% are reverted, one after the other in 50 minutes.
			at := i * 6
			if i%25 == 0 {
				o.See(web(i), seen("web", at, "cpu"), window, atTheEnd)
			} else {
				o.See(web(i), seen("web", at), window, atTheEnd)
			}
		}
		for now := 3000; now < 8000; now += 50 {
			if opens(o, now, time.Time{}) {
				t.Fatalf("it opens at second %d", now)
			}
		}
	})
	t.Run("workloads without pods are dropped after an hour, and no others", func(t *testing.T) {
		o := workload.NewOutcomes()
		for i := range 3 {
			for k := range 3 {
				o.See(web(i), seen(fmt.Sprint("web-", k), 10*k, "cpu"), window, atTheEnd)
			}
		}
		gone := func(of workload.Group) bool { return of != web(1) }
		if o.Prune(podtest.At(3619), gone); len(o.Trips(podtest.At(3619), never)) != 3 {
			t.Error("dropped too early")
		}
		if o.Prune(podtest.At(3620), gone); len(o.Trips(podtest.At(3620), never)) != 2 {
			t.Error("not dropped")
		}
	})
}

func TestClusterBreaker(t *testing.T) {
	// Each namespace has so many workloads with reverts, of so many that were resized.
	for _, tc := range []struct {
		name       string
		namespaces [][2]int
		want       []string
	}{
		{"none", nil, nil},
		{"one namespace has them all", [][2]int{{50, 50}}, []string{"a"}},
		{"one namespace among others", [][2]int{{50, 50}, {0, 20}, {0, 20}}, []string{"a"}},
		{"one namespace and few others", [][2]int{{50, 50}, {1, 20}, {1, 20}}, []string{"a"}},
		{"one namespace and as many others as it counts for", [][2]int{{50, 50}, {2, 20}, {1, 20}}, []string{"", "a"}},
		{"many namespaces with few each", [][2]int{{1, 19}, {1, 20}, {1, 20}, {1, 20}, {1, 20}}, []string{""}},
		{"a smaller share", [][2]int{{1, 20}, {1, 20}, {1, 20}, {1, 20}, {1, 20}}, nil},
		{"fewer than five", [][2]int{{1, 1}, {1, 1}, {1, 1}, {1, 1}}, nil},
		{"two namespaces", [][2]int{{200, 200}, {200, 200}}, []string{"", "a", "b"}},
		{"two namespaces, of which one is small", [][2]int{{200, 200}, {4, 4}}, []string{"a"}},
	} {
		o := workload.NewOutcomes()
		for i, of := range tc.namespaces {
			for k := range of[1] {
				in := web(k)
				in.Namespace = string(rune('a' + i))
				var reverted []string
				if k < of[0] {
					reverted = []string{"cpu"}
				}
				o.See(in, seen("web", 1, reverted...), window, atTheEnd)
			}
		}
		var got []string
		for _, trip := range o.Trips(podtest.At(100), never) {
			got = append(got, trip.Group.Namespace)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
	}
	t.Run("nothing counts that became known before it was reset", func(t *testing.T) {
		o := workload.NewOutcomes()
		for i := range 10 {
			in := web(i)
			in.Namespace = fmt.Sprint("n", i)
			o.See(in, seen("web", 1, "cpu"), window, atTheEnd)
		}
		for reset, want := range map[int]bool{1: true, 2: false} {
			trips := o.Trips(podtest.At(100), func(of workload.Group) time.Time {
				if of == (workload.Group{}) {
					return podtest.At(reset)
				}
				return time.Time{}
			})
			if len(trips) > 0 != want {
				t.Errorf("reset at %d: %v", reset, trips)
			}
		}
	})
}

// BenchmarkOutcomes has 10,000 workloads with 15 resized pods each.
func BenchmarkOutcomes(b *testing.B) {
	const workloads, each = 10_000, 15
	var pods [each]*pod.Pod
	for i := range pods {
		pods[i] = seen(fmt.Sprint("web-", i), 10*i)
	}
	names := make([]workload.Group, workloads)
	for i := range names {
		names[i] = web(i)
	}
	filled := func() *workload.Outcomes {
		o := workload.NewOutcomes()
		for i := range workloads * each {
			o.See(names[i%workloads], pods[i/workloads], window, atTheEnd)
		}
		return o
	}
	b.Run("fill", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			filled()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(workloads*each), "ns/pod")
	})
	b.Run("event", func(b *testing.B) {
		o, i := filled(), 0
		b.ReportAllocs()
		for b.Loop() {
			o.See(names[i%workloads], pods[i%each], window, atTheEnd)
			i++
		}
	})
	b.Run("unresized", func(b *testing.B) {
		o, of := filled(), pod.From(podtest.Pod(podtest.Guaranteed, podtest.AsCreated))
		b.ReportAllocs()
		for b.Loop() {
			o.See(names[0], of, window, atTheEnd)
		}
	})
	b.Run("trips", func(b *testing.B) {
		o := filled()
		b.ReportAllocs()
		for b.Loop() {
			o.Trips(podtest.At(1000), never)
		}
	})
}
