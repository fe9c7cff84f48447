package pod

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// says is a condition that is true.
func says(of corev1.PodConditionType, reason string) corev1.PodCondition {
	return corev1.PodCondition{Type: of, Status: corev1.ConditionTrue, Reason: reason}
}

// at is a condition that is about a generation of the spec.
func at(generation int64, c corev1.PodCondition) corev1.PodCondition {
	c.ObservedGeneration = generation
	return c
}

// seen is a pod whose spec has changed once, of which the kubelet has looked at a
// generation.
func seen(generation int64) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Generation, p.Status.ObservedGeneration = 2, generation }
}

// runsWith has the kubelet say what containers run with and, if that is not "", how much
// cpu it has set aside for them.
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

// second is another container that asks for as much.
func second(p *corev1.Pod) {
	p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "second", Resources: guaranteed.Requirements()})
}

var less = podtest.Amounts{"500m", "500m", "1Gi", "1Gi"}

func TestStatus(t *testing.T) {
	t.Run("what the kubelet says of a resize", whatTheKubeletSaysOfAResize)
	t.Run("a condition is kept as the kubelet says it", aConditionIsKeptAsTheKubeletSaysIt)
	t.Run("a refusal for good counts whatever it is about", aRefusalForGoodCountsWhateverItIsAbout)
	t.Run("when a resize is carried out", whenAResizeIsCarriedOut)
}

func whatTheKubeletSaysOfAResize(t *testing.T) {
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
		{"nothing", nil, nil, nil},
		{"it can never be", []corev1.PodCondition{says(pending, corev1.PodReasonInfeasible)}, nil, codes(contract.ResizeInfeasible)},
		{"not now", []corev1.PodCondition{deferred}, nil, codes(contract.ResizeDeferred)},
		{"it is under way", []corev1.PodCondition{says(inProgress, "")}, nil, codes(contract.ResizeInProgress)},
		{"it fails", []corev1.PodCondition{says(inProgress, corev1.PodReasonError)}, nil, codes(contract.ResizeError)},
		{"one is under way and another waits", []corev1.PodCondition{says(inProgress, ""), deferred}, nil, codes(contract.ResizeInProgress, contract.ResizeDeferred)},
		{"what is no longer so is nothing", []corev1.PodCondition{not}, nil, nil},
		{"nor is what is about something else, and it hides nothing", []corev1.PodCondition{says(corev1.PodReady, corev1.PodReasonInfeasible), not, says(corev1.PodReady, corev1.PodReasonError), deferred}, nil, codes(contract.ResizeDeferred)},

		{"what it said of the spec before, which it has not looked at since", []corev1.PodCondition{at(1, deferred)}, changes{seen(1)}, nil},
		{"it has looked since, and still says so", []corev1.PodCondition{at(1, deferred)}, changes{seen(2)}, codes(contract.ResizeDeferred)},
		{"what it says of the spec as it is", []corev1.PodCondition{at(2, deferred)}, changes{seen(1)}, codes(contract.ResizeDeferred)},
		{"an old kubelet does not say of which", []corev1.PodCondition{deferred}, changes{seen(1)}, codes(contract.ResizeDeferred)},

		{"nothing waits that is set aside and runs", []corev1.PodCondition{deferred}, changes{runsWith(true, "app", guaranteed, "1")}, nil},
		{"but something may be under way", []corev1.PodCondition{says(inProgress, "")}, changes{runsWith(true, "app", guaranteed, "1")}, codes(contract.ResizeInProgress)},
		{"more is set aside than asked for", []corev1.PodCondition{deferred}, changes{runsWith(true, "app", guaranteed, "2")}, codes(contract.ResizeDeferred)},
		{"it is set aside, but does not run", []corev1.PodCondition{deferred}, changes{runsWith(true, "app", less, "1")}, codes(contract.ResizeDeferred)},
		{"what is set aside is not told", []corev1.PodCondition{deferred}, changes{runsWith(true, "app", guaranteed, "")}, codes(contract.ResizeDeferred)},
		{"it is told of one container and not of another", []corev1.PodCondition{deferred}, changes{second, runsWith(true, "app", guaranteed, ""), runsWith(true, "second", guaranteed, "1")}, nil},
		{"of one container it is, of another not", []corev1.PodCondition{deferred}, changes{second, runsWith(true, "app", guaranteed, "1"), runsWith(true, "second", less, "500m")}, codes(contract.ResizeDeferred)},
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

func aConditionIsKeptAsTheKubeletSaysIt(t *testing.T) {
	most := strings.Repeat("x", mostMessage)
	for _, tc := range []struct{ name, said, kept string }{
		{"as it is", most, most},
		{"but for what is too long", most + "y", most + "…"},
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

func aRefusalForGoodCountsWhateverItIsAbout(t *testing.T) {
	for _, tc := range []struct {
		name       string
		conditions []corev1.PodCondition
		want       bool
	}{
		{"nothing is said", nil, false},
		{"of this spec", []corev1.PodCondition{says(corev1.PodReady, ""), says(corev1.PodResizePending, corev1.PodReasonInfeasible)}, true},
		{"of one before", []corev1.PodCondition{at(1, says(corev1.PodResizePending, corev1.PodReasonInfeasible))}, true},
		{"not now is not never", []corev1.PodCondition{says(corev1.PodResizePending, corev1.PodReasonDeferred)}, false},
		{"about something else", []corev1.PodCondition{says(corev1.PodReady, corev1.PodReasonInfeasible)}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := From(podtest.Pod(guaranteed, seen(1), func(p *corev1.Pod) { p.Status.Conditions = tc.conditions }))
			if p.RefusedForGood() != tc.want {
				t.Errorf("refused: %t", p.RefusedForGood())
			}
		})
	}
}

func whenAResizeIsCarriedOut(t *testing.T) {
	waits := func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{says(corev1.PodResizePending, corev1.PodReasonDeferred)}
	}
	for _, tc := range []struct {
		name    string
		changes changes
		want    bool
	}{
		{"an old kubelet tells nothing", nil, true},
		{"it runs", changes{runsWith(true, "app", guaranteed, "1")}, true},
		{"something else runs", changes{runsWith(true, "app", less, "1")}, false},
		{"something else ran, and has ended", changes{runsWith(false, "app", less, "1")}, true},
		{"one runs, and another runs with something else", changes{second, runsWith(true, "app", guaranteed, "1"), runsWith(true, "second", less, "1")}, false},
		{"one runs, and of another nothing is told", changes{second, runsWith(true, "app", guaranteed, "1"), func(p *corev1.Pod) {
			p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: "second", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}})
		}}, true},
		{"it runs, and something is said to wait", changes{runsWith(true, "app", guaranteed, ""), waits}, false},
		{"it runs, but the spec is newer than what the kubelet has seen", changes{runsWith(true, "app", guaranteed, "1"), seen(1)}, false},
		{"the kubelet has seen it", changes{runsWith(true, "app", guaranteed, "1"), seen(2)}, true},
		{"the kubelet does not tell what it has seen", changes{runsWith(true, "app", guaranteed, "1"), seen(0)}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := From(podtest.Pod(guaranteed, tc.changes...)).Actuated(); got != tc.want {
				t.Errorf("carried out: %t", got)
			}
		})
	}
}
