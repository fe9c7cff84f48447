package reconciler

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// others is the field manager of other actors that resize pods.
const others = "they"

// set sets one amount of a container, e.g. "requests", "cpu", as another actor.
func (s *apiServer) set(t *testing.T, p *corev1.Pod, container, list, resource, to string) *corev1.Pod {
	t.Helper()
	body := fmt.Sprintf(`{"spec":{"containers":[{"name":%q,"resources":{%q:{%q:%q}}}]}}`, container, list, resource, to)
	p, err := s.client.CoreV1().Pods(p.Namespace).Patch(t.Context(), p.Name, types.StrategicMergePatchType, []byte(body), metav1.PatchOptions{FieldManager: others}, contract.ResizeSubresource)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// apply applies the cpu request of app as another actor, which takes its ownership from
// any other manager.
func (s *apiServer) apply(t *testing.T, p *corev1.Pod, to string) *corev1.Pod {
	t.Helper()
	force := true
	body := fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q},"spec":{"containers":[{"name":%q,"resources":{%q:{%q:%q}}}]}}`, p.Name, "app", "requests", "cpu", to)
	p, err := s.client.CoreV1().Pods(p.Namespace).Patch(t.Context(), p.Name, types.ApplyPatchType, []byte(body), metav1.PatchOptions{FieldManager: others, Force: &force}, contract.ResizeSubresource)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (s *apiServer) wantSizes(t *testing.T, when string, p *corev1.Pod, want string) *corev1.Pod {
	t.Helper()
	p = s.get(t, p)
	if got := podtest.SizesOf(p); got != want {
		t.Errorf("%s: %s, want %s", when, got, want)
	}
	return p
}

// restoresParts: if another actor resized a part of a pod, a restore reverts the rest,
// names the part and keeps every original. Nothing compounds afterward.
func (s *apiServer) restoresParts(t *testing.T) {
	for _, tc := range []struct {
		name            string
		set             [4]string
		restored, named string
		resumed         string
	}{
		{"only the memory of a container", [4]string{"app", "requests", "memory", "1536Mi"},
			"app 1/2 1536Mi/2Gi, second 1/2 1Gi/2Gi", "container app: memory stays as they set it (1536Mi/2Gi, originally 1Gi/2Gi)", "app 800m/1600m 1536Mi/2Gi, second 800m/1600m 1Gi/2Gi"},
		{"only a limit", [4]string{"second", "limits", "cpu", "3"},
			"app 1/2 1Gi/2Gi, second 800m/3 1Gi/2Gi", "container second: cpu stays as they set it (800m/3, originally 1/2)", "app 800m/1600m 1Gi/2Gi, second 800m/3 1Gi/2Gi"},
		{"a request", [4]string{"app", "requests", "cpu", "900m"},
			"app 900m/1600m 1Gi/2Gi, second 1/2 1Gi/2Gi", "container app: cpu stays as they set it (900m/1600m, originally 1/2)", "app 900m/1600m 1Gi/2Gi, second 800m/1600m 1Gi/2Gi"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := s.carryOut(t, s.pod(t, podtest.Burstable, podtest.WithSecond(podtest.Burstable)), "n4")
			recorded := p.Annotations
			p = s.set(t, p, tc.set[0], tc.set[1], tc.set[2], tc.set[3])
			s.do(t, s.planAs(t, p, "n4", restoring))
			p = s.wantSizes(t, "restored", p, tc.restored)
			for key, value := range recorded {
				if p.Annotations[key] != value {
					t.Errorf("annotation %s is %q, was %q", key, p.Annotations[key], value)
				}
			}
			again := s.planAs(t, p, "n4", restoring)
			if again.Decision != plan.Skip || again.Reasons[0] != (plan.Reason{Code: contract.ExternallyResized, Message: tc.named}) {
				t.Errorf("planned again: %v because of %v", again.Decision, again.Reasons)
			}
			s.do(t, s.planAs(t, p, "n4"))
			p = s.wantSizes(t, "resumed", p, tc.resumed)
			// The other actor sets the original again, and no annotation remains.
			p = s.set(t, p, tc.set[0], tc.set[1], tc.set[2], map[string]string{"memory": "1Gi", "cpu": "1"}[tc.set[2]])
			if tc.set[1] == "limits" {
				p = s.set(t, p, tc.set[0], tc.set[1], tc.set[2], "2")
				p = s.set(t, p, tc.set[0], "requests", tc.set[2], "1")
			} else if tc.set[2] == "cpu" {
				p = s.set(t, p, tc.set[0], "limits", "cpu", "2")
			}
			s.do(t, s.planAs(t, p, "n4", restoring))
			p = s.wantSizes(t, "restored as a whole", p, "app 1/2 1Gi/2Gi, second 1/2 1Gi/2Gi")
			if len(p.Annotations) > 0 {
				t.Errorf("annotations %v", p.Annotations)
			}
		})
	}
}

// restoresWithoutAnOriginal: one of the originals is missing.
func (s *apiServer) restoresWithoutAnOriginal(t *testing.T) {
	p := s.carryOut(t, s.pod(t, podtest.Burstable, podtest.WithSecond(podtest.Burstable)), "n4")
	body := []byte(`{"metadata":{"annotations":{"workload-resizer.io/original-cpu.app":null}}}`)
	p, err := s.client.CoreV1().Pods(p.Namespace).Patch(t.Context(), p.Name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: "kubectl"})
	if err != nil {
		t.Fatal(err)
	}
	recorded := p.Annotations
	planned := s.planAs(t, p, "n4", restoring)
	if got := reasonsOf(planned); !slices.Equal(got, []contract.Reason{contract.InvalidAnnotation}) || !strings.Contains(planned.Reasons[0].Message, "container app: cpu stays: annotation workload-resizer.io/original-cpu.app is missing") {
		t.Errorf("reasons %v", planned.Reasons)
	}
	s.do(t, planned)
	p = s.wantSizes(t, "restored", p, "app 800m/1600m 1Gi/2Gi, second 1/2 1Gi/2Gi")
	if len(p.Annotations) != len(recorded) {
		t.Errorf("annotations %v, before %v", p.Annotations, recorded)
	}
	// The amount is neither treated as restored nor scaled again.
	if again := s.planAs(t, p, "n4", restoring); again.Decision != plan.Skip || again.Reasons[0].Code != contract.InvalidAnnotation {
		t.Errorf("planned again: %v because of %v", again.Decision, again.Reasons)
	}
	s.do(t, s.planAs(t, p, "n4"))
	s.wantSizes(t, "resumed", p, "app 800m/1600m 1Gi/2Gi, second 800m/1600m 1Gi/2Gi")
}

// restoresThePublished: a restore of a pod of the published controller is stopped before
// each of its writes.
func (s *apiServer) restoresThePublished(t *testing.T) {
	for writes := range 3 {
		p := s.annotateAs(t, s.pod(t, podtest.Guaranteed), "published", "original-cpu.app", "1", "original-memory.app", "1Gi")
		p = s.resizeAs(t, p, "published", podtest.Amounts{"800m", "800m", "1Gi", "1Gi"})
		p = s.annotateAs(t, p, "published", "applied-instance-type", "n4", "applied-at", "2026-11-21T01:02:03Z")
		a, left := *s.actuator, writes
		a.Permit = func(context.Context, *plan.Plan, plan.Action) error {
			if left--; left < 0 {
				return &actuate.StoppedError{Because: "this is a test"}
			}
			return nil
		}
		if _, err := a.CarryOut(t.Context(), s.planAs(t, p, "n4", restoring)); err == nil {
			t.Fatalf("the restore is complete after %d writes", writes)
		}
		s.do(t, s.planAs(t, s.get(t, p), "n4", restoring))
		check(t, s.get(t, p), podtest.Guaranteed)
	}
}

// adoptsOnlyWhatTheySet: an amount that only we resized keeps its original, regardless of
// what another actor sets next to it, and when.
func (s *apiServer) adoptsOnlyWhatTheySet(t *testing.T) {
	adopt := func(p *plan.Planner, _ *plan.Snapshot) { p.External = plan.AdoptExternal }
	original := func(t *testing.T, p *corev1.Pod, which contract.Original, container, want string) {
		t.Helper()
		if got := p.Annotations[which.Key(container)]; got != want {
			t.Errorf("annotation %s is %s, want %s", which.Key(container), got, want)
		}
	}
	t.Run("at the minimum bound", func(t *testing.T) {
		p := s.carryOut(t, s.pod(t, podtest.Amounts{"10m", "20m", "1Gi", "2Gi"}, podtest.WithSecond(podtest.Burstable)), "n4")
		p = s.set(t, p, "app", "requests", "memory", "1536Mi")
		s.do(t, s.planAs(t, p, "n4", adopt))
		p = s.wantSizes(t, "adopted", p, "app 50m/51m 1536Mi/2Gi, second 800m/1600m 1Gi/2Gi")
		original(t, p, contract.CPURequest, "app", "10m")
		original(t, p, contract.CPURequest, "second", "1")
		original(t, p, contract.MemoryRequest, "app", "1536Mi")
		original(t, p, contract.MemoryLimit, "app", "2Gi")
	})
	t.Run("after a change to the node type", func(t *testing.T) {
		p := s.carryOut(t, s.pod(t, podtest.Burstable), "n4")
		p = s.set(t, p, "app", "limits", "memory", "3Gi")
		s.do(t, s.planAs(t, p, "slow", adopt))
		p = s.wantSizes(t, "adopted", p, "app 1250m/2500m 1Gi/3Gi")
		original(t, p, contract.CPURequest, "app", "1")
		original(t, p, contract.MemoryRequest, "app", "1Gi")
		original(t, p, contract.MemoryLimit, "app", "3Gi")
	})
	t.Run("and recognizes an adopted amount when the actor sets another one", func(t *testing.T) {
		p := s.carryOut(t, s.pod(t, podtest.Burstable), "n4")
		p = s.set(t, p, "app", "requests", "cpu", "600m")
		s.do(t, s.planAs(t, p, "n4", adopt))
		p = s.set(t, s.get(t, p), "app", "requests", "memory", "1536Mi") // Their managed fields have a new time.
		leave := s.planAs(t, p, "n4")
		if leave.Decision != plan.Skip || leave.Reasons[0].Message != "container app: memory stays as they set it (1536Mi/2Gi, originally 1Gi/2Gi)" {
			t.Errorf("with leave: %v because of %v", leave.Decision, leave.Reasons)
		}
		s.do(t, s.planAs(t, p, "n4", adopt))
		p = s.get(t, p)
		original(t, p, contract.CPURequest, "app", "750m")
		s.do(t, s.planAs(t, p, "slow", adopt))
		p = s.wantSizes(t, "on another ratio", p, "app 938m/2500m 1536Mi/2Gi")
		for key := range p.Annotations {
			if strings.HasPrefix(key, contract.AdoptedPrefix+"cpu") {
				t.Errorf("the cpu is no longer adopted, but %s exists", key)
			}
		}
		// The actor sets the same value again: that is no longer the adopted one.
		p = s.set(t, p, "app", "requests", "cpu", "600m")
		if left := s.planAs(t, p, "slow"); left.Decision != plan.Skip || left.Reasons[0].Message != "container app: cpu stays as they set it (600m/2500m, originally 750m/2)" {
			t.Errorf("set again: %v because of %v", left.Decision, left.Reasons)
		}
	})
}

// sharesFields: an actor that applies the current value of a field shares its ownership.
func (s *apiServer) sharesFields(t *testing.T) {
	t.Run("the value that we set remains ours", func(t *testing.T) {
		p := s.carryOut(t, s.pod(t, podtest.Burstable), "n4")
		p = s.apply(t, p, "800m")
		s.do(t, s.planAs(t, p, "slow"))
		s.wantSizes(t, "on another ratio", p, "app 1250m/2500m 1Gi/2Gi")
	})
	t.Run("the value that the pod was created with remains the author's", func(t *testing.T) {
		p := s.apply(t, s.pod(t, podtest.Burstable), "1")
		p = s.carryOut(t, p, "n4")
		s.wantSizes(t, "sized", p, "app 800m/1600m 1Gi/2Gi")
	})
	t.Run("another value becomes the actor's", func(t *testing.T) {
		p := s.carryOut(t, s.pod(t, podtest.Burstable), "n4")
		p = s.apply(t, p, "700m")
		if left := s.planAs(t, p, "n4"); left.Decision != plan.Skip || left.Reasons[0].Message != "container app: cpu stays as they set it (700m/1600m, originally 1/2)" {
			t.Errorf("%v because of %v", left.Decision, left.Reasons)
		}
	})
}
