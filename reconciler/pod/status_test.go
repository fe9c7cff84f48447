package pod

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// says returns a condition that is true.
func says(of corev1.PodConditionType, reason string) corev1.PodCondition {
	return corev1.PodCondition{Type: of, Status: corev1.ConditionTrue, Reason: reason}
}

// at returns a condition about a generation of the spec.
func at(generation int64, c corev1.PodCondition) corev1.PodCondition {
	c.ObservedGeneration = generation
	return c
}

// seen makes the pod's spec change once; the kubelet has observed the given generation.
func seen(generation int64) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Generation, p.Status.ObservedGeneration = 2, generation }
}

// runsWith makes the kubelet report what a container runs with and, unless cpu is "", how
// much cpu it has allocated.
func runsWith(runs bool, name string, with podtest.Amounts, cpu string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		r := with.Requirements()
		s := corev1.ContainerStatus{Name: name, Resources: &r}
		if runs {
			s.State.Running = &corev1.ContainerStateRunning{}
		}
		if cpu != "" {
			s.AllocatedResources = podtest.Amounts{cpu, "", with[2], ""}.Requirements().Requests
		}
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, s)
	}
}

// second adds a container with the same size.
func second(p *corev1.Pod) {
	p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "second", Resources: guaranteed.Requirements()})
}

var less = podtest.Amounts{"500m", "500m", "1Gi", "1Gi"}

func TestStatus(t *testing.T) {
	t.Run("reads the conditions of a resize", readsTheConditionsOfAResize)
	t.Run("keeps a condition as the kubelet reports it", keepsAConditionAsTheKubeletReportsIt)
	t.Run("counts a permanent refusal of any generation", countsAPermanentRefusalOfAnyGeneration)
	t.Run("reports when a resize is actuated", reportsWhenAResizeIsActuated)
}

func readsTheConditionsOfAResize(t *testing.T) {
	const pending, inProgress = corev1.PodResizePending, corev1.PodResizeInProgress
	not := says(pending, "")
	not.Status = corev1.ConditionFalse
	deferred := says(pending, corev1.PodReasonDeferred)
	codes := func(codes ...contract.Reason) []contract.Reason { return codes }
	for _, tc := range []struct {
		name       string
		conditions []corev1.PodCondition
		changes    changes
		want       []contract.Reason
	}{
		{"no condition", nil, nil, nil},
		{"infeasible", []corev1.PodCondition{says(pending, corev1.PodReasonInfeasible)}, nil, codes(contract.ResizeInfeasible)},
		{"deferred", []corev1.PodCondition{deferred}, nil, codes(contract.ResizeDeferred)},
		{"in progress", []corev1.PodCondition{says(inProgress, "")}, nil, codes(contract.ResizeInProgress)},
		{"error", []corev1.PodCondition{says(inProgress, corev1.PodReasonError)}, nil, codes(contract.ResizeError)},
		{"one in progress and one deferred", []corev1.PodCondition{says(inProgress, ""), deferred}, nil, codes(contract.ResizeInProgress, contract.ResizeDeferred)},
		{"ignores a false condition", []corev1.PodCondition{not}, nil, nil},
		{"ignores other conditions among pending ones", []corev1.PodCondition{says(corev1.PodReady, corev1.PodReasonInfeasible), not, says(corev1.PodReady, corev1.PodReasonError), deferred}, nil, codes(contract.ResizeDeferred)},

		{"ignores an earlier generation before the kubelet observes the spec", []corev1.PodCondition{at(1, deferred)}, changes{seen(1)}, nil},
		{"counts an earlier generation once the kubelet has observed the spec", []corev1.PodCondition{at(1, deferred)}, changes{seen(2)}, codes(contract.ResizeDeferred)},
		{"counts the current generation", []corev1.PodCondition{at(2, deferred)}, changes{seen(1)}, codes(contract.ResizeDeferred)},
		{"counts a condition without a generation", []corev1.PodCondition{deferred}, changes{seen(1)}, codes(contract.ResizeDeferred)},

		{"ignores a pending resize that is allocated and runs", []corev1.PodCondition{deferred}, changes{runsWith(true, "app", guaranteed, "1")}, nil},
		{"counts a resize in progress that is allocated and runs", []corev1.PodCondition{says(inProgress, "")}, changes{runsWith(true, "app", guaranteed, "1")}, codes(contract.ResizeInProgress)},
		{"counts a pending resize if more is allocated", []corev1.PodCondition{deferred}, changes{runsWith(true, "app", guaranteed, "2")}, codes(contract.ResizeDeferred)},
		{"counts a pending resize that is allocated but does not run", []corev1.PodCondition{deferred}, changes{runsWith(true, "app", less, "1")}, codes(contract.ResizeDeferred)},
		{"counts a pending resize without allocated resources", []corev1.PodCondition{deferred}, changes{runsWith(true, "app", guaranteed, "")}, codes(contract.ResizeDeferred)},
		{"ignores a pending resize if one container reports its allocation", []corev1.PodCondition{deferred}, changes{second, runsWith(true, "app", guaranteed, ""), runsWith(true, "second", guaranteed, "1")}, nil},
		{"counts a pending resize if one container lacks its allocation", []corev1.PodCondition{deferred}, changes{second, runsWith(true, "app", guaranteed, "1"), runsWith(true, "second", less, "500m")}, codes(contract.ResizeDeferred)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := From(podtest.Pod(guaranteed, append(tc.changes, func(p *corev1.Pod) { p.Status.Conditions = tc.conditions })...))
			var got []contract.Reason
			for _, c := range p.Conditions() {
				got = append(got, c.Code)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func keepsAConditionAsTheKubeletReportsIt(t *testing.T) {
	most := strings.Repeat("x", mostMessage)
	for _, tc := range []struct{ name, said, kept string }{
		{"unchanged", most, most},
		{"truncated if too long", most + "y", most + "…"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, generation := range []int64{0, 3} {
				c := at(generation, says(corev1.PodResizePending, corev1.PodReasonDeferred))
				c.Message, c.LastTransitionTime.Time = tc.said, podtest.At(5)
				p := From(podtest.Pod(guaranteed, func(p *corev1.Pod) { p.Status.Conditions = []corev1.PodCondition{c} }))
				want := []Condition{{contract.ResizeDeferred, tc.kept, podtest.At(5), generation == 0}}
				if diff := cmp.Diff(want, p.Conditions()); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func countsAPermanentRefusalOfAnyGeneration(t *testing.T) {
	for _, tc := range []struct {
		name       string
		conditions []corev1.PodCondition
		want       bool
	}{
		{"no condition", nil, false},
		{"the current generation", []corev1.PodCondition{says(corev1.PodReady, ""), says(corev1.PodResizePending, corev1.PodReasonInfeasible)}, true},
		{"an earlier generation", []corev1.PodCondition{at(1, says(corev1.PodResizePending, corev1.PodReasonInfeasible))}, true},
		{"deferred is not infeasible", []corev1.PodCondition{says(corev1.PodResizePending, corev1.PodReasonDeferred)}, false},
		{"another condition", []corev1.PodCondition{says(corev1.PodReady, corev1.PodReasonInfeasible)}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := From(podtest.Pod(guaranteed, seen(1), func(p *corev1.Pod) { p.Status.Conditions = tc.conditions }))
			if p.RefusedForGood() != tc.want {
				t.Errorf("refused: %t", p.RefusedForGood())
			}
		})
	}
}

func reportsWhenAResizeIsActuated(t *testing.T) {
	waits := func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{says(corev1.PodResizePending, corev1.PodReasonDeferred)}
	}
	for _, tc := range []struct {
		name    string
		changes changes
		want    bool
	}{
		{"an old kubelet reports nothing", nil, true},
		{"the container runs with the spec", changes{runsWith(true, "app", guaranteed, "1")}, true},
		{"the container runs with a different size", changes{runsWith(true, "app", less, "1")}, false},
		{"a container with a different size has ended", changes{runsWith(false, "app", less, "1")}, true},
		{"one of two containers runs with a different size", changes{second, runsWith(true, "app", guaranteed, "1"), runsWith(true, "second", less, "1")}, false},
		{"one of two containers is not reported", changes{second, runsWith(true, "app", guaranteed, "1"), func(p *corev1.Pod) {
			p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: "second", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}})
		}}, true},
		{"the container runs with the spec, but a resize is pending", changes{runsWith(true, "app", guaranteed, ""), waits}, false},
		{"the kubelet has not observed the spec", changes{runsWith(true, "app", guaranteed, "1"), seen(1)}, false},
		{"the kubelet has observed the spec", changes{runsWith(true, "app", guaranteed, "1"), seen(2)}, true},
		{"the kubelet reports no generation", changes{runsWith(true, "app", guaranteed, "1"), seen(0)}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := From(podtest.Pod(guaranteed, tc.changes...)).Actuated(); got != tc.want {
				t.Errorf("actuated: %t", got)
			}
		})
	}
}
