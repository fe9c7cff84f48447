package reconciler

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// stops: if a plan is stopped before any of its writes, the next plan reaches the same
// final state.
func (s *apiServer) stops(t *testing.T) {
	sized := func(t *testing.T) (*corev1.Pod, *plan.Plan) {
		p := s.pod(t, podtest.Guaranteed)
		return p, s.plan(t, p, "n4")
	}
	restored := func(t *testing.T) (*corev1.Pod, *plan.Plan) {
		p := s.carryOut(t, s.pod(t, podtest.Guaranteed), "n4")
		return p, s.planAs(t, p, "n4", restoring)
	}
	again := func(p *corev1.Pod) *plan.Plan { return s.planAs(t, p, "n4") }
	for _, tc := range []struct {
		name    string
		begin   func(*testing.T) (*corev1.Pod, *plan.Plan)
		permits int
		goOn    func(*corev1.Pod) *plan.Plan
		left    podtest.Amounts
		leftHas []string
		want    podtest.Amounts
		has     []string
	}{
		{"before the originals", sized, 0, again, podtest.Guaranteed, nil, podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, applied("n4")},
		{"before the resize", sized, 1, again, podtest.Guaranteed, recordedOriginals, podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, applied("n4")},
		{"before the applied annotations", sized, 2, again, podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, recordedOriginals, podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, applied("n4")},
		{"before the restore", restored, 0, func(p *corev1.Pod) *plan.Plan { return s.planAs(t, p, "n4", restoring) }, podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, applied("n4"), podtest.Guaranteed, nil},
		{"before the annotations are removed", restored, 1, func(p *corev1.Pod) *plan.Plan { return s.planAs(t, p, "n4", restoring) }, podtest.Guaranteed, applied("n4"), podtest.Guaranteed, nil},
		{"before the annotations are removed, and the hold ends", restored, 1, again, podtest.Guaranteed, applied("n4"), podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, applied("n4")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, planned := tc.begin(t)
			a := *s.actuator
			left := tc.permits
			a.Permit = func(context.Context, *plan.Plan, plan.Action) error {
				if left--; left < 0 {
					return &actuate.StoppedError{Because: "test"}
				}
				return nil
			}
			_, err := a.CarryOut(t.Context(), planned)
			var stopped *actuate.StoppedError
			if !errors.As(err, &stopped) {
				t.Fatalf("got %v", err)
			}
			p = s.get(t, p)
			check(t, p, tc.left, tc.leftHas...)
			s.do(t, tc.goOn(p))
			check(t, s.get(t, p), tc.want, tc.has...)
		})
	}
}
