package workload_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// sibling returns a pod of the same controller.
func sibling(n int, p *corev1.Pod) *pod.Pod {
	p.Name, p.UID = fmt.Sprintf("web-%d", n), types.UID(fmt.Sprint("uid-", n))
	return pod.From(p)
}

// authored returns pods with the size that their author wrote.
func authored(from, to int) (pods []*pod.Pod) {
	for n := from; n < to; n++ {
		pods = append(pods, sibling(n, podtest.Pod(podtest.Amounts{"1", "1", "1Gi", "1Gi"}, podtest.AsCreated)))
	}
	return pods
}

// A pod may get 500m and 512Mi, as resized gives them at second 10. Resizes are observed until
// second 310.
func TestPlaces(t *testing.T) {
	reverted := func(hurt string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			memoryReverted(p)
			podtest.Annotated("reverted", `[{"at":"2026-11-21T00:00:50Z","container":"app","resource":"memory","hurt":"`+hurt+`","back":"1Gi/1Gi","times":1,"harm":"OOMKilled","message":"killed"}]`)(p)
		}
	}
	deferred := func(p *corev1.Pod) {
		r := podtest.Amounts{"1", "1", "1Gi", "1Gi"}.Requirements()
		p.Status.ContainerStatuses[0].Resources, p.Status.ContainerStatuses[0].AllocatedResources = &r, r.Requests
	}
	partly := func(p *corev1.Pod) { delete(p.Annotations, contract.AppliedInstanceType) }
	unready := readiness(false, 290)
	killed := func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodFailed
		p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 137, FinishedAt: metav1.NewTime(podtest.At(40))}}
	}
	killedLater := func(p *corev1.Pod) {
		killed(p)
		p.Status.ContainerStatuses[0].State.Terminated.FinishedAt = metav1.NewTime(podtest.At(310))
	}
	restarted := func(p *corev1.Pod) {
		killed(p)
		p.Status.Phase = corev1.PodRunning
	}
	// Only the memory of a second container was lowered.
	second := func(p *corev1.Pod) {
		withSecond(p)
		podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(10, "app", "second"), podtest.Managed(contract.FieldManager, "", 11, contract.AppliedAt, contract.AppliedSizes))(p)
		record("app 3 memory 512Mi/512Mi; second 0 memory 1Gi/1Gi>512Mi/512Mi")(p)
	}
	often := func(p *corev1.Pod) {
		reverted("256Mi/256Mi")(p)
		p.Annotations[contract.Reverts] = strings.Replace(p.Annotations[contract.Reverts], `"times":1`, `"times":5`, 1)
	}
	elsewhere := func(p *corev1.Pod) {
		reverted("512Mi/512Mi")(p)
		p.Annotations[contract.Reverts] = strings.Replace(p.Annotations[contract.Reverts], `"app"`, `"proxy"`, 1)
	}
	toThisSize := func(p *corev1.Pod) {
		reverted("256Mi/256Mi")(p)
		p.Spec.Containers[0].Resources = podtest.Amounts{"500m", "500m", "512Mi", "512Mi"}.Requirements()
		p.Annotations[contract.Reverts] = strings.Replace(p.Annotations[contract.Reverts], `"1Gi/1Gi"`, `"512Mi/512Mi"`, 1)
	}
	deleted := func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.NewTime(podtest.At(50))) }
	unlimited := func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources = podtest.Amounts{"500m", "500m", "512Mi", ""}.Requirements()
		record("app 3 cpu 1/1>500m/500m memory 1Gi>512Mi")(p)
	}
	smaller := func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources = podtest.Amounts{"500m", "500m", "256Mi", "256Mi"}.Requirements()
	}
	byOthers := func(p *corev1.Pod) {
		p.ManagedFields[1] = podtest.ResizeBy(contract.FieldManager, 10, contract.CPURequest, contract.CPULimit)
		p.ManagedFields = append(p.ManagedFields, podtest.ResizeBy("kubectl", 30, contract.MemoryRequest, contract.MemoryLimit))
	}
	finished := func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }
	for _, tc := range []struct {
		name string
		// siblings come before pods that their author sized: 10 in total.
		siblings []*corev1.Pod
		now      int
		places   int
		reason   contract.Reason
		again    int
	}{
		{name: "nobody has the size", places: 1},
		{name: "a canary tries it", siblings: []*corev1.Pod{resized()}, reason: contract.WaitingForProof, again: 310},
		{name: "a canary has proven it", siblings: []*corev1.Pod{resized()}, now: 310, places: workload.Unlimited},
		{name: "a canary with only some of its sizes tries it", siblings: []*corev1.Pod{resized(partly)}, reason: contract.WaitingForProof, again: 310},
		{name: "a canary whose node defers the resize", siblings: []*corev1.Pod{resized(deferred)}, reason: contract.WaitingForProof, again: 310},
		{name: "a canary whose node has deferred the resize all the time", siblings: []*corev1.Pod{resized(deferred)}, now: 310, places: 1},
		{name: "a canary that is not ready", siblings: []*corev1.Pod{resized(unready)}, now: 309, reason: contract.WaitingForProof, again: 310},
		{name: "a canary that is not ready in the end", siblings: []*corev1.Pod{resized(unready)}, now: 310, places: 1},
		{name: "a canary was killed and is not restarted", siblings: []*corev1.Pod{resized(killed)}, reason: contract.CanaryReverted, again: 700},
		{name: "a canary with less was killed and is not restarted", siblings: []*corev1.Pod{resized(killed, smaller)}, places: 1},
		{name: "a canary was killed at the end of the window and is not restarted", siblings: []*corev1.Pod{resized(killedLater)}, now: 400, places: 1},
		{name: "a canary was killed and is restarted", siblings: []*corev1.Pod{resized(restarted)}, reason: contract.WaitingForProof, again: 310},
		{name: "a canary was killed with more memory than before", siblings: []*corev1.Pod{resized(killed, record("app 3 memory 256Mi/256Mi>512Mi/512Mi"))}, places: 1},
		{name: "a canary was killed, and only the memory of another container was lowered", siblings: []*corev1.Pod{resized(killed, second)}, places: 1},
		{name: "a pod whose author wrote the size", siblings: []*corev1.Pod{podtest.Pod(podtest.Amounts{"500m", "500m", "512Mi", "512Mi"}, podtest.AsCreated, restarts(0, 0), readiness(true, 5))}, places: 1},
		{name: "a canary without a limit", siblings: []*corev1.Pod{resized(unlimited)}, now: 310, places: 1},
		{name: "a canary that is deleted", siblings: []*corev1.Pod{resized(deleted)}, places: 1},
		{name: "another actor chose the size of a pod", siblings: []*corev1.Pod{resized(byOthers)}, places: 1},
		{name: "a pod that has finished tried it", siblings: []*corev1.Pod{resized(finished)}, places: 1},
		{name: "the canary has a different size", siblings: []*corev1.Pod{resized(func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources = podtest.Amounts{"500m", "500m", "768Mi", "768Mi"}.Requirements()
		})}, places: 1},
		{name: "the size made a canary worse", siblings: []*corev1.Pod{resized(reverted("512Mi/512Mi"))}, reason: contract.CanaryReverted, again: 700},
		{name: "the size made one canary worse, and another has proven it", siblings: []*corev1.Pod{resized(), resized(reverted("512Mi/512Mi"))}, now: 400, reason: contract.CanaryReverted, again: 1000},
		{name: "the size made a canary worse that has finished", siblings: []*corev1.Pod{resized(reverted("512Mi/512Mi"), finished)}, reason: contract.CanaryReverted, again: 700},
		{name: "a different size made a canary worse a short time ago", siblings: []*corev1.Pod{resized(reverted("256Mi/256Mi"))}, reason: contract.CanaryReverted, again: 650},
		{name: "a different size made a canary worse many times", siblings: []*corev1.Pod{resized(often)}, reason: contract.CanaryReverted, again: 700},
		{name: "the size made another container of a canary worse", siblings: []*corev1.Pod{resized(elsewhere)}, places: 1},
		{name: "a smaller size made a canary worse, which got this one back", siblings: []*corev1.Pod{resized(toThisSize)}, reason: contract.WaitingForProof, again: 360},
		{name: "a different size made a canary worse a long time ago", siblings: []*corev1.Pod{resized(reverted("256Mi/256Mi"))}, now: 650, places: 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.now == 0 {
				tc.now = 100
			}
			var siblings []*pod.Pod
			for n, p := range tc.siblings {
				siblings = append(siblings, sibling(n, p))
			}
			siblings = append(siblings, authored(len(siblings), 10)...)
			trial := workload.Trial{Pod: siblings[9], NodeType: "n4", Siblings: siblings, Settings: &settings, Now: podtest.At(tc.now)}
			places, why := trial.Places("app", sizing.Memory, sizing.Amount{Request: 512 << 20, Limit: 512 << 20})
			if places != tc.places || why.Reason != tc.reason || (why.Message == "") != (tc.reason == "") {
				t.Errorf("%d places, %v; want %d, %v", places, why, tc.places, tc.reason)
			}
			var again time.Time
			if tc.again != 0 {
				again = podtest.At(tc.again)
			}
			if !why.Again.Equal(again) {
				t.Errorf("it is tried again at %v, want %v", why.Again, again)
			}
		})
	}
	t.Run("the pod itself is not one of the others", func(t *testing.T) {
		siblings := append([]*pod.Pod{sibling(0, resized())}, authored(1, 10)...)
		trial := workload.Trial{Pod: siblings[0], NodeType: "n4", Siblings: siblings, Settings: &settings, Now: podtest.At(100)}
		if places, why := trial.Places("app", sizing.Memory, sizing.Amount{Request: 512 << 20, Limit: 512 << 20}); places != 1 {
			t.Errorf("%d places, %v", places, why)
		}
	})
	t.Run("a canary that has gone on to the next step has proven the one before", func(t *testing.T) {
		next := sibling(0, resized(smaller, record("app 3 cpu 1/1>500m/500m memory 512Mi/512Mi>256Mi/256Mi")))
		for most, proven := range map[float64]bool{0.5: true, 1: false} {
			steps := settings
			steps.MaxChange = most
			trial := workload.Trial{Pod: authored(9, 10)[0], NodeType: "n4", Siblings: append(authored(1, 10), next), Settings: &steps, Now: podtest.At(100)}
			places, why := trial.Places("app", sizing.Memory, sizing.Amount{Request: 512 << 20, Limit: 512 << 20})
			if proven != (places == workload.Unlimited) || proven == (why.Reason == contract.WaitingForProof) {
				t.Errorf("in steps of %v: %d places, %v", most, places, why)
			}
		}
	})
	t.Run("a canary with a limit has proven the size without one", func(t *testing.T) {
		trial := workload.Trial{Pod: authored(9, 10)[0], NodeType: "n4", Siblings: append(authored(1, 10), sibling(0, resized())), Settings: &settings, Now: podtest.At(310)}
		if places, why := trial.Places("app", sizing.Memory, sizing.Amount{Request: 512 << 20}); places != workload.Unlimited {
			t.Errorf("%d places, %v", places, why)
		}
	})
	t.Run("a killed canary says nothing of larger sizes", func(t *testing.T) {
		siblings := append([]*pod.Pod{sibling(0, resized(killed))}, authored(1, 10)...)
		trial := workload.Trial{Pod: siblings[9], NodeType: "n4", Siblings: siblings, Settings: &settings, Now: podtest.At(100)}
		for limit, places := range map[int64]int{256 << 20: 0, 512 << 20: 0, 513 << 20: 1, 0: 1} {
			if got, why := trial.Places("app", sizing.Memory, sizing.Amount{Request: 256 << 20, Limit: limit}); got != places {
				t.Errorf("with a limit of %d: %d places, %v; want %d", limit, got, why, places)
			}
		}
	})
	t.Run("the reason is the same in any order of the pods", func(t *testing.T) {
		a, b := sibling(0, resized(reverted("512Mi/512Mi"))), sibling(1, resized(reverted("512Mi/512Mi")))
		trial := workload.Trial{Pod: authored(2, 3)[0], NodeType: "n4", Siblings: []*pod.Pod{a, b}, Settings: &settings, Now: podtest.At(100)}
		to := sizing.Amount{Request: 512 << 20, Limit: 512 << 20}
		_, first := trial.Places("app", sizing.Memory, to)
		trial.Siblings = []*pod.Pod{b, a}
		if _, second := trial.Places("app", sizing.Memory, to); first != second {
			t.Errorf("%v in one order, %v in the other", first, second)
		}
	})
	t.Run("the cooldown doubles with each size that made a pod of the workload worse", func(t *testing.T) {
		for _, tc := range []struct {
			reverts []string // the memory that was reverted on each sibling, and how often
			minutes int
		}{
			{[]string{"256Mi 1"}, 10}, {[]string{"256Mi 1", "256Mi 1"}, 10}, {[]string{"256Mi 1", "300Mi 1"}, 20}, {[]string{"256Mi 1", "300Mi 2"}, 40},
			{[]string{"256Mi 2", "256Mi 2"}, 20}, {[]string{"200Mi 1", "210Mi 1", "220Mi 1", "230Mi 1", "240Mi 1", "250Mi 1", "260Mi 1"}, 160},
		} {
			siblings := authored(9, 10)
			for n, text := range tc.reverts {
				memory, times, _ := strings.Cut(text, " ")
				siblings = append(siblings, sibling(n, resized(reverted(memory+"/"+memory), func(p *corev1.Pod) {
					p.Annotations[contract.Reverts] = strings.Replace(p.Annotations[contract.Reverts], `"times":1`, `"times":`+times, 1)
				})))
			}
			trial := workload.Trial{Pod: siblings[0], NodeType: "n4", Siblings: siblings, Settings: &settings}
			for seconds, want := range map[int]int{-1: 0, 0: 1} {
				trial.Now = podtest.At(50 + 60*tc.minutes + seconds)
				if places, why := trial.Places("app", sizing.Memory, sizing.Amount{Request: 512 << 20, Limit: 512 << 20}); places != want {
					t.Errorf("after %q: %d places at %v, %v; want %d", tc.reverts, places, trial.Now, why, want)
				}
			}
		}
	})
	t.Run("it reports whether the size was reverted, and when a different one is tried", func(t *testing.T) {
		blocked := func(p *corev1.Pod) {
			podtest.Annotated("reverted", `[{"at":"2026-11-21T00:00:50Z","container":"app","resource":"memory","hurt":"512Mi/512Mi","back":"1Gi/1Gi","times":1,"harm":"OOMKilled","message":"killed"}]`)(p)
			podtest.ManagedBy(podtest.Managed(contract.FieldManager, "", 11, contract.Reverts))(p)
		}
		for want, p := range map[string]*corev1.Pod{
			"512Mi/512Mi made pod web-0 worse and was reverted there: killed (OOMKilled)":                                                        resized(reverted("512Mi/512Mi")),
			"256Mi/256Mi made pod web-0 worse and was reverted there: killed (OOMKilled); 512Mi/512Mi is tried at 2026-11-21T00:10:50Z or later": resized(reverted("256Mi/256Mi")),
			"512Mi/512Mi made pod web-0 worse and is not reverted there yet: killed (OOMKilled)":                                                 resized(blocked),
		} {
			trial := workload.Trial{Pod: authored(9, 10)[0], NodeType: "n4", Siblings: []*pod.Pod{sibling(0, p)}, Settings: &settings, Now: podtest.At(100)}
			if _, why := trial.Places("app", sizing.Memory, sizing.Amount{Request: 512 << 20, Limit: 512 << 20}); why.Message != want {
				t.Errorf("got  %s\nwant %s", why.Message, want)
			}
		}
	})
	t.Run("versions of a workload", func(t *testing.T) {
		by := func(uid types.UID, revision string) func(*corev1.Pod) {
			return func(p *corev1.Pod) {
				p.OwnerReferences[0].UID, p.Labels = uid, map[string]string{appsv1.ControllerRevisionHashLabelKey: revision}
			}
		}
		wrote := func(memory string) func(*corev1.Pod) {
			return podtest.Annotated("original-memory.app", memory, "original-memory-limit.app", memory)
		}
		old, older, next := by("rs-1", ""), by("set", "1"), by("set", "2")
		worse := reverted("512Mi/512Mi")
		for _, tc := range []struct {
			name    string
			sibling *corev1.Pod
			of      func(*corev1.Pod)
			now     int
			places  int
			reason  contract.Reason
		}{
			{"an earlier version has proven the size", resized(old), by("rs-2", ""), 310, workload.Unlimited, ""},
			{"an earlier revision has proven the size", resized(older), next, 310, workload.Unlimited, ""},
			{"an earlier version tries the size", resized(old), by("rs-2", ""), 309, 0, contract.WaitingForProof},
			{"an earlier version with a different original has proven the size", resized(old, wrote("2Gi")), by("rs-2", ""), 310, 1, ""},
			{"a pod of the same version whose original was changed has proven the size", resized(old, wrote("2Gi")), old, 310, workload.Unlimited, ""},
			{"the size made an earlier version worse", resized(old, worse), by("rs-2", ""), 100, 1, ""},
			{"the size made an earlier revision worse", resized(older, worse), next, 100, 1, ""},
			{"the size made a pod of the same revision worse", resized(next, worse), next, 100, 0, contract.CanaryReverted},
		} {
			t.Run(tc.name, func(t *testing.T) {
				of := podtest.Pod(podtest.Amounts{"1", "1", "1Gi", "1Gi"}, podtest.AsCreated, tc.of)
				trial := workload.Trial{Pod: sibling(9, of), NodeType: "n4", Siblings: []*pod.Pod{sibling(0, tc.sibling)}, Settings: &settings, Now: podtest.At(tc.now)}
				places, why := trial.Places("app", sizing.Memory, sizing.Amount{Request: 512 << 20, Limit: 512 << 20})
				if places != tc.places || why.Reason != tc.reason {
					t.Errorf("%d places, %v; want %d, %v", places, why, tc.places, tc.reason)
				}
			})
		}
		t.Run("pods of an earlier version have proven the size, and it made another one worse", func(t *testing.T) {
			siblings := []*pod.Pod{sibling(0, resized(old)), sibling(1, resized(old)), sibling(2, resized(old, worse))}
			of := podtest.Pod(podtest.Amounts{"1", "1", "1Gi", "1Gi"}, podtest.AsCreated, by("rs-2", ""))
			trial := workload.Trial{Pod: sibling(9, of), NodeType: "n4", Siblings: siblings, Settings: &settings, Now: podtest.At(400)}
			if places, why := trial.Places("app", sizing.Memory, sizing.Amount{Request: 512 << 20, Limit: 512 << 20}); places != 1 {
				t.Errorf("%d places, %v; want a canary of its own", places, why)
			}
		})
	})
	t.Run("the share counts all pods of the workload", func(t *testing.T) {
		siblings := append([]*pod.Pod{sibling(0, resized()), sibling(1, resized())}, authored(2, 30)...)
		trial := workload.Trial{Pod: siblings[29], NodeType: "n4", Siblings: siblings, Settings: &settings, Now: podtest.At(400)}
		to := sizing.Amount{Request: 512 << 20, Limit: 512 << 20}
		// Two pods have proven the size, but three must.
		if places, _ := trial.Places("app", sizing.Memory, to); places != 1 {
			t.Errorf("%d places, want 1", places)
		}
	})
}
