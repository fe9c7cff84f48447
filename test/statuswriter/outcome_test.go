package statuswriter_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/test/statuswriter"
)

func (s *suite) outcome(t *testing.T) {
	for _, test := range []struct {
		name                 string
		outcome              statuswriter.Outcome
		resources, allocated string
		said                 []string
	}{
		{"actuated", statuswriter.Outcome{}, "2", "2", nil},
		{"in-progress", statuswriter.Outcome{Result: statuswriter.InProgress}, "1", "2", []string{"PodResizeInProgress//"}},
		{"error", statuswriter.Outcome{Result: statuswriter.Error, Message: "below usage"}, "1", "2", []string{"PodResizeInProgress/Error/below usage"}},
		{"deferred", statuswriter.Outcome{Result: statuswriter.Deferred, Message: "no room"}, "1", "1", []string{"PodResizePending/Deferred/no room"}},
		{"infeasible", statuswriter.Outcome{Result: statuswriter.Infeasible, Message: "never"}, "1", "1", []string{"PodResizePending/Infeasible/never"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s.outcomes.Store(test.name, test.outcome)
			s.create(t, test.name, played)
			s.await(t, test.name, "run", all(running, has("1", "1"), saying(nil)))
			s.mustResize(t, test.name, "2")
			s.await(t, test.name, "have the outcome", all(has(test.resources, test.allocated), saying(test.said), s.observed))
			s.mustResize(t, test.name, "1")
			s.await(t, test.name, "have its first size again", all(has("1", "1"), saying(nil)))
		})
	}
}

func (s *suite) reconsiders(t *testing.T) {
	for _, first := range []statuswriter.Result{statuswriter.Deferred, statuswriter.Error} {
		name := "waits-" + map[statuswriter.Result]string{statuswriter.Deferred: "deferred", statuswriter.Error: "error"}[first]
		s.outcomes.Store(name, statuswriter.Outcome{Result: first})
		s.create(t, name, played)
		s.await(t, name, "run", running)
		s.mustResize(t, name, "2")
		s.await(t, name, "wait", func(pod *corev1.Pod) error {
			if len(said(pod)) != 1 {
				return fmt.Errorf("the resize conditions are %v", said(pod))
			}
			return nil
		})
		s.outcomes.Delete(name)
		s.writer.Reconsider()
		s.await(t, name, "be actuated", all(has("2", "2"), saying(nil)))
	}
}

func (s *suite) waitsBehind(t *testing.T) {
	s.outcomes.Store("behind", statuswriter.Outcome{Result: statuswriter.InProgress})
	s.create(t, "behind", played)
	s.await(t, "behind", "run", running)
	s.mustResize(t, "behind", "2")
	s.await(t, "behind", "be in progress", has("1", "2"))
	s.outcomes.Store("behind", statuswriter.Outcome{Result: statuswriter.Deferred})
	s.mustResize(t, "behind", "3")
	s.await(t, "behind", "wait", all(has("1", "2"), saying([]string{"PodResizeInProgress//", "PodResizePending/Deferred/"})))
}
