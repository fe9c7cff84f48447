package reconciler

import (
	"encoding/json"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// applyPod lets an actor that may not resize apply the pod unchanged. The API server allows
// that, and the actor then owns all sizes of the pod, too.
func (s *apiServer) applyPod(t *testing.T, p *corev1.Pod) *corev1.Pod {
	t.Helper()
	type container struct {
		Name      string                      `json:"name"`
		Image     string                      `json:"image"`
		Resources corev1.ResourceRequirements `json:"resources"`
	}
	var all []container
	for _, c := range p.Spec.Containers {
		all = append(all, container{c.Name, c.Image, c.Resources})
	}
	return s.applyAs(t, p, "gitops", map[string]any{"spec": map[string]any{"containers": all, "restartPolicy": p.Spec.RestartPolicy}})
}

func (s *apiServer) applyAs(t *testing.T, p *corev1.Pod, manager string, object map[string]any) *corev1.Pod {
	t.Helper()
	object["apiVersion"], object["kind"] = "v1", "Pod"
	body, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	force := true
	p, err = s.client.CoreV1().Pods(p.Namespace).Patch(t.Context(), p.Name, types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: manager, Force: &force})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// distrusts tries misleading records of field managers.
func (s *apiServer) distrusts(t *testing.T) {
	t.Run("applying a pod unchanged does not make an actor its author", func(t *testing.T) {
		p := s.carryOut(t, s.pod(t, podtest.Burstable), "slow")
		for range 3 {
			p = s.applyPod(t, p)
			if planned := s.planAs(t, p, "slow"); planned.Pending() {
				t.Errorf("%v because of %v: %s", planned.Decision, planned.Reasons, planned.Describe())
			}
		}
		s.do(t, s.planAs(t, p, "n4"))
		p = s.wantSizes(t, "on another ratio", p, "app 800m/1600m 1Gi/2Gi")
		s.do(t, s.planAs(t, p, "n4", restoring))
		s.wantSizes(t, "restored", p, "app 1/2 1Gi/2Gi")
	})
	t.Run("a predecessor is recognized even if the originals were stamped", func(t *testing.T) {
		for _, stamped := range []bool{false, true} {
			keys := []string{"original-cpu.app", "1", "original-memory.app", "1Gi"}
			var p *corev1.Pod
			if stamped {
				p = s.pod(t, podtest.Amounts{"1", "", "1Gi", ""}, podtest.Annotated(keys...))
			} else {
				p = s.annotateAs(t, s.pod(t, podtest.Amounts{"1", "", "1Gi", ""}), "published", keys...)
			}
			p = s.resizeAs(t, p, "published", podtest.Amounts{"800m", "", "512Mi", ""})
			p = s.annotateAs(t, p, "published", "applied-instance-type", "big-2", "applied-at", "2026-11-21T01:02:02Z")
			planned := s.planAs(t, p, "big") // cpu: 500m; memory: unchanged.
			s.do(t, planned)
			p = s.get(t, p)
			next := s.planAs(t, p, "n2d")
			if got := next.Containers[0].Desired.Memory.Request; got != podtest.GiB {
				t.Errorf("stamped %v: on the baseline: %v %v: %s", stamped, next.Decision, next.Reasons, next.Describe())
			}
			if restored := s.planAs(t, p, "big", restoring); !cleans(restored) {
				t.Errorf("stamped %v: restore: %v %v", stamped, restored.Decision, restored.Reasons)
			}
		}
	})
	t.Run("applying a restored size does not set it", func(t *testing.T) {
		p := s.carryOut(t, s.pod(t, podtest.Burstable), "n4")
		s.do(t, s.planAs(t, p, "n4", restoring))
		p = s.apply(t, s.get(t, p), "1")
		if planned := s.planAs(t, p, "n4"); planned.Decision != plan.Resize {
			t.Errorf("%v %v", planned.Decision, planned.Reasons)
		}
	})
	t.Run("a pod whose originals another actor set is resized after a restore", func(t *testing.T) {
		p := s.carryOut(t, s.pod(t, podtest.Burstable), "n4")
		p = s.set(t, p, "app", "requests", "cpu", "1")
		p = s.set(t, p, "app", "limits", "cpu", "2")
		planned := s.planAs(t, p, "n4", restoring)
		s.do(t, planned)
		p = s.get(t, p)
		if next := s.planAs(t, p, "n4"); next.Decision != plan.Resize {
			t.Errorf("restored: %v %v; resumed: %v %v", planned.Reasons, p.Annotations, next.Decision, next.Reasons)
		}
	})
	t.Run("a record that was reset proves nothing", func(t *testing.T) {
		p := s.carryOut(t, s.pod(t, podtest.Burstable), "n4")
		p, err := s.client.CoreV1().Pods(p.Namespace).Patch(t.Context(), p.Name, types.JSONPatchType, []byte(`[{"op":"replace","path":"/metadata/managedFields","value":[{}]}]`), metav1.PatchOptions{FieldManager: "cleaner"})
		if err != nil {
			t.Fatal(err)
		}
		p = s.applyAs(t, p, "labeller", map[string]any{"metadata": map[string]any{"labels": map[string]string{"a": "b"}}})
		if planned := s.planAs(t, p, "slow"); planned.Containers[0].Desired.CPU != planned.Containers[0].Current.CPU {
			t.Errorf("%v because of %v: %s", planned.Decision, planned.Reasons, planned.Describe())
		}
		if planned := s.planAs(t, p, "n4", restoring); planned.Decision != plan.Skip || planned.Reasons[0].Code != contract.InvalidAnnotation {
			t.Errorf("restore: %v because of %v", planned.Decision, planned.Reasons)
		}
	})
	t.Run("a limit that a LimitRange adds to a resize is not the author's", func(t *testing.T) {
		p := s.pod(t, podtest.Amounts{"1", "", "1Gi", ""})
		_, err := s.client.CoreV1().LimitRanges(p.Namespace).Create(t.Context(), &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: "late"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type: corev1.LimitTypeContainer, Default: corev1.ResourceList{"cpu": resource.MustParse("4")},
		}}}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		localcluster.Eventually(t, "the LimitRange", func() error {
			q := s.carryOutTry(t, p)
			if q == nil || q.Spec.Containers[0].Resources.Limits.Cpu().IsZero() {
				return fmt.Errorf("no limit yet")
			}
			p = q
			return nil
		})
		planned := s.planAs(t, p, "n4")
		c := &planned.Containers[0]
		if c.Original.CPU.Limit != 0 {
			t.Errorf("the LimitRange's limit is treated as the author's: %d", c.Original.CPU.Limit)
		}
		if r := s.planAs(t, p, "n4", restoring); cleans(r) {
			t.Errorf("the restore removes the record: %v", r.Reasons)
		}
	})
}

// carryOutTry resizes the pod for alternating node types, without knowledge of
// LimitRanges.
func (s *apiServer) carryOutTry(t *testing.T, p *corev1.Pod) *corev1.Pod {
	p = s.get(t, p)
	for _, nodeType := range []string{"n4", "big", "n4"} {
		planned := s.planAs(t, p, nodeType)
		if planned.Pending() {
			if _, err := s.actuator.CarryOut(t.Context(), planned); err != nil {
				return nil
			}
		}
		p = s.get(t, p)
	}
	return p
}
