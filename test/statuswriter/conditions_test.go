package statuswriter_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/test/statuswriter"
)

func (s *suite) generations(t *testing.T) {
	for name, outcome := range map[string]statuswriter.Outcome{
		"failing": {Result: statuswriter.Error, Message: "below usage"},
		"refused": {Result: statuswriter.Infeasible, Message: statuswriter.StaticCPUManager},
	} {
		s.outcomes.Store(name, outcome)
		s.create(t, name, played)
		s.await(t, name, "run", running)
		s.mustResize(t, name, "2")
		about := conditionOf(s.await(t, name, "have a condition", hasCondition)).ObservedGeneration
		pod := s.addEphemeralContainer(t, name)
		pod = s.await(t, name, "be observed with another container", all(s.observedSince(pod.Generation), hasCondition))
		if got := conditionOf(pod).ObservedGeneration; got != about {
			t.Errorf("%s: the condition has generation %d after adding a container, %d before", name, got, about)
		}
		s.mustResize(t, name, "3")
		s.await(t, name, "have a condition for the second resize", func(pod *corev1.Pod) error {
			if got := conditionOf(pod); got == nil || got.ObservedGeneration != pod.Status.ObservedGeneration {
				return fmt.Errorf("condition %v, observed generation %d", got, pod.Status.ObservedGeneration)
			}
			return s.observed(pod)
		})
	}
}

func (s *suite) times(t *testing.T) {
	const name = "times"
	say := func(cpu string, outcome statuswriter.Outcome) corev1.PodCondition {
		t.Helper()
		s.outcomes.Store(name, outcome)
		s.mustResize(t, name, cpu)
		said := string(corev1.PodResizePending) + "/" + string(outcome.Result) + "/" + outcome.Message
		return *conditionOf(s.await(t, name, "say "+outcome.Message, saying([]string{said})))
	}
	s.create(t, name, old)
	s.await(t, name, "run", running)
	first := say("2", statuswriter.Outcome{Result: statuswriter.Infeasible, Message: "one"})
	localcluster.Eventually(t, "another second", func() error {
		if left := time.Until(first.LastProbeTime.Add(behind + time.Second)); left > 0 {
			return fmt.Errorf("%v remaining", left)
		}
		return nil
	})
	second := say("3", statuswriter.Outcome{Result: statuswriter.Infeasible, Message: "two"})
	if !second.LastTransitionTime.Equal(&first.LastTransitionTime) || !first.LastProbeTime.Before(&second.LastProbeTime) {
		t.Errorf("only the message changed: got %+v after %+v", second, first)
	}
	third := say("4", statuswriter.Outcome{Result: statuswriter.Deferred, Message: "three"})
	if !second.LastTransitionTime.Before(&third.LastTransitionTime) {
		t.Errorf("the reason changed: got %+v after %+v", third, second)
	}
}

func (s *suite) oldKubelet(t *testing.T) {
	const name = "by-old"
	before := time.Now()
	s.outcomes.Store(name, statuswriter.Outcome{Result: statuswriter.Infeasible, Message: statuswriter.StaticCPUManager133})
	s.create(t, name, old)
	s.await(t, name, "run", running)
	s.mustResize(t, name, "2")
	pod := s.await(t, name, "have a condition", hasCondition)
	if got := pod.Status.ObservedGeneration; got != 0 {
		t.Errorf("the status has observed generation %d, want none", got)
	}
	for _, c := range pod.Status.Conditions {
		if c.ObservedGeneration != 0 {
			t.Errorf("%s has observed generation %d, want none", c.Type, c.ObservedGeneration)
		}
		// Conditions have whole seconds.
		if early, late := before.Add(-behind-time.Second), time.Now().Add(-behind); c.LastTransitionTime.Time.Before(early) || c.LastTransitionTime.After(late) {
			t.Errorf("%s has transition time %v, want %v to %v", c.Type, c.LastTransitionTime, early, late)
		}
	}
	s.outcomes.Delete(name)
	s.writer.Reconsider()
	s.await(t, name, "be actuated", all(has("2", "2"), saying(nil)))
}

// conditionOf returns the pod's first resize condition, or nil if it has none.
func conditionOf(pod *corev1.Pod) *corev1.PodCondition {
	for i, c := range pod.Status.Conditions {
		if c.Type == corev1.PodResizePending || c.Type == corev1.PodResizeInProgress {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

func hasCondition(pod *corev1.Pod) error {
	if conditionOf(pod) == nil {
		return errors.New("it has no resize condition")
	}
	return nil
}

// observedSince returns a check that the kubelet observed the current generation, and that this
// is at least the given one. API servers that do not store observed generations pass.
func (s *suite) observedSince(generation int64) func(*corev1.Pod) error {
	return func(pod *corev1.Pod) error {
		if pod.Generation < generation {
			return fmt.Errorf("generation %d", pod.Generation)
		}
		return s.observed(pod)
	}
}

func (s *suite) addEphemeralContainer(t *testing.T, name string) *corev1.Pod {
	t.Helper()
	pods := s.client.CoreV1().Pods(namespace)
	pod, err := pods.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pod.Spec.EphemeralContainers = append(pod.Spec.EphemeralContainers, corev1.EphemeralContainer{
		EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debugger", Image: "none"},
	})
	if pod, err = pods.UpdateEphemeralContainers(t.Context(), name, pod, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	return pod
}
