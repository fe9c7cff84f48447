package reconciler

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// distrusts tries what a record of field managers may make one believe.
func (s *apiServer) distrusts(t *testing.T) {
	force := true
	applyMain := func(t *testing.T, p *corev1.Pod, manager, rest string) *corev1.Pod {
		t.Helper()
		body := fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q}%s}`, p.Name, rest)
		p, err := s.client.CoreV1().Pods(p.Namespace).Patch(t.Context(), p.Name, types.ApplyPatchType, []byte(body), metav1.PatchOptions{FieldManager: manager, Force: &force})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	t.Run("SSA of the pod as it is shares our size and makes it the original", func(t *testing.T) {
		p := s.carryOut(t, s.pod(t, burstable), "n4")
		p = applyMain(t, p, "gitops", `,"spec":{"containers":[{"name":"app","image":"none","resources":{"requests":{"cpu":"800m"},"limits":{"cpu":"1600m"}}}]}`)
		plan := s.planAs(t, p, "n4")
		if got := plan.Containers[0].Original.CPU.Request; got != 1000 {
			t.Errorf("original cpu is %dm", got)
		}
		if plan.pending() {
			s.do(t, plan)
		}
		p = s.get(t, p)
		s.do(t, s.planAs(t, p, "big"))
		p = s.get(t, p)
		s.do(t, s.planAs(t, p, "n4", restoring))
		p = s.wantSizes(t, "restored", p, "app 1/2 1Gi/2Gi")
	})
	t.Run("again and again it compounds", func(t *testing.T) {
		p := s.carryOut(t, s.pod(t, burstable), "slow")
		sizes := []string{sizesOf(p)}
		for range 20 {
			c := &p.Spec.Containers[0].Resources
			p = applyMain(t, p, "meddler", fmt.Sprintf(`,"spec":{"containers":[{"name":"app","resources":{"requests":{"cpu":%q},"limits":{"cpu":%q}}}]}`, c.Requests.Cpu(), c.Limits.Cpu()))
			plan := s.planAs(t, p, "slow")
			if plan.Decision != Resize {
				break
			}
			if _, err := s.actuator.carryOut(t.Context(), plan); err != nil {
				break
			}
			p = s.get(t, p)
			sizes = append(sizes, sizesOf(p))
		}
		if len(sizes) > 1 {
			t.Errorf("on the same node: %s", strings.Join(sizes, "\n"))
		}
	})
	t.Run("a predecessor that found stamped originals", func(t *testing.T) {
		for _, stamped := range []bool{false, true} {
			keys := []string{"original-cpu.app", "1", "original-memory.app", "1Gi"}
			var p *corev1.Pod
			if stamped {
				p = s.pod(t, amounts{"1", "", "1Gi", ""}, annotated(keys...))
			} else {
				p = s.annotateAs(t, s.pod(t, amounts{"1", "", "1Gi", ""}), "published", keys...)
			}
			p = s.resizeAs(t, p, "published", amounts{"800m", "", "512Mi", ""})
			p = s.annotateAs(t, p, "published", "applied-instance-type", "big-2", "applied-at", "2026-11-21T01:02:02Z")
			plan := s.planAs(t, p, "big") // cpu: 500m; memory: as it is.
			s.do(t, plan)
			p = s.get(t, p)
			next := s.planAs(t, p, "n2d")
			if got := next.Containers[0].Desired.Memory.Request; got != gi {
				t.Errorf("stamped %v: on the baseline: %v %v: %s", stamped, next.Decision, next.Reasons, next.describe())
			}
			if restored := s.planAs(t, p, "big", restoring); restored.keepRecord {
				t.Errorf("stamped %v: restore: %v %v", stamped, restored.Decision, restored.Reasons)
			}
		}
	})
	t.Run("who agrees with a restored size is taken for who set it", func(t *testing.T) {
		p := s.carryOut(t, s.pod(t, burstable), "n4")
		s.do(t, s.planAs(t, p, "n4", restoring))
		p = s.apply(t, s.get(t, p), "app", "requests", "cpu", "1")
		if plan := s.planAs(t, p, "n4"); plan.Decision != Resize {
			t.Errorf("%v %v", plan.Decision, plan.Reasons)
		}
	})
	t.Run("restored after they gave it back", func(t *testing.T) {
		p := s.carryOut(t, s.pod(t, burstable), "n4")
		p = s.set(t, p, "app", "requests", "cpu", "1")
		p = s.set(t, p, "app", "limits", "cpu", "2")
		plan := s.planAs(t, p, "n4", restoring)
		s.do(t, plan)
		p = s.get(t, p)
		if next := s.planAs(t, p, "n4"); next.Decision != Resize {
			t.Errorf("restored: %v %v; resumed: %v %v", plan.Reasons, p.Annotations, next.Decision, next.Reasons)
		}
	})
	t.Run("a record that was reset and SSA of a label", func(t *testing.T) {
		p := s.carryOut(t, s.pod(t, burstable), "n4")
		p, err := s.client.CoreV1().Pods(p.Namespace).Patch(t.Context(), p.Name, types.JSONPatchType, []byte(`[{"op":"replace","path":"/metadata/managedFields","value":[{}]}]`), metav1.PatchOptions{FieldManager: "cleaner"})
		if err != nil {
			t.Fatal(err)
		}
		p = applyMain(t, p, "labeller", "")
		p, err = s.client.CoreV1().Pods(p.Namespace).Patch(t.Context(), p.Name, types.ApplyPatchType, []byte(fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"labels":{"a":"b"}}}`, p.Name)), metav1.PatchOptions{FieldManager: "labeller", Force: &force})
		if err != nil {
			t.Fatal(err)
		}
		plan := s.planAs(t, p, "n4")
		c := &plan.Containers[0]
		if got := c.Original.CPU.Request; got != 1000 && c.standings[0].claim != lost {
			t.Errorf("original cpu is %dm", got)
		}
		for range 3 {
			if plan := s.planAs(t, p, "n4"); plan.pending() {
				s.do(t, plan)
			}
			p = s.get(t, p)
		}
		if plan := s.planAs(t, p, "n4", restoring); plan.pending() {
			s.do(t, plan)
			p = s.get(t, p)
		}
	})
	t.Run("a limit that a LimitRange adds to a resize", func(t *testing.T) {
		p := s.pod(t, amounts{"1", "", "1Gi", ""})
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
		plan := s.planAs(t, p, "n4")
		c := &plan.Containers[0]
		if c.Original.CPU.Limit != 0 {
			t.Errorf("the LimitRange's limit is taken for the author's: %d", c.Original.CPU.Limit)
		}
		if r := s.planAs(t, p, "n4", restoring); !r.keepRecord {
			t.Errorf("restored in spite of it: %v", r.Reasons)
		}
	})
}

// carryOutTry sizes the pod without knowing of LimitRanges, alternating types.
func (s *apiServer) carryOutTry(t *testing.T, p *corev1.Pod) *corev1.Pod {
	p = s.get(t, p)
	for _, nodeType := range []string{"n4", "big", "n4"} {
		plan := s.planAs(t, p, nodeType)
		if plan.pending() {
			if _, err := s.actuator.carryOut(t.Context(), plan); err != nil {
				return nil
			}
		}
		p = s.get(t, p)
	}
	return p
}
