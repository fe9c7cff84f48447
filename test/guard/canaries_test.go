package guard

import (
	"fmt"
	"strings"
	"testing"
	"time"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// TestCanaries changes the ratio of workloads of 20 running pods, of which 2 are canaries.
func TestCanaries(t *testing.T) {
	t.Parallel()
	const pods, canaries = 20, 2
	settings := fmt.Sprintf("guard: {window: 30s, unready: %v}", unready)
	s := newSuite(t, localcluster.Options{Nodes: "n4=2"}, configOf(1, settings))
	s.apply(t, (&workload{name: "good", replicas: pods, work: calm}).manifest("canaries"))
	s.apply(t, (&workload{name: "leaky", replicas: pods, work: calm}).manifest("canaries"))
	server := s.align(t, "canaries", map[string]int{"good": pods, "leaky": pods})
	s.apply(t, configOf(1.25, settings))
	s.seen.awaitSome(t, "canaries", "good", canaries, sized)
	s.awaitPlans(t, server, "good", "WaitingForProof", pods-canaries)
	s.seen.awaitSome(t, "canaries", "leaky", canaries, sized)
	for _, c := range s.seen.of("canaries", "leaky") {
		if sized(&c) {
			s.inject(t, []course{c}, oom)
		}
	}
	t.Run("the others follow once the canaries have proven the size", func(t *testing.T) {
		s.seen.await(t, "canaries", "good", pods, "lowered", lowered)
		early := 0
		first, window := time.Time{}, 30*time.Second
		for _, c := range s.seen.of("canaries", "good") {
			if first.IsZero() || c.changed.Before(first) {
				first = c.changed
			}
		}
		for _, c := range s.seen.of("canaries", "good") {
			if c.changed.Sub(first) < window-time.Second {
				early++
			}
		}
		if early != canaries {
			t.Errorf("%d pods were resized within %v, want %d", early, window, canaries)
		}
	})
	t.Run("a size that hurts canaries is not tried on others", func(t *testing.T) {
		// Cpu did no harm, so all pods get it.
		s.seen.await(t, "canaries", "leaky", pods, "with less cpu and all memory", func(c *course) bool { return sizesOf(c.pod) == loweredCPU+" "+memory })
		s.awaitPlans(t, server, "leaky", "CanaryReverted", pods-canaries)
		harmed := 0
		for _, c := range s.seen.of("canaries", "leaky") {
			if statusOf(c.pod).RestartCount > 0 {
				harmed++
			}
		}
		if harmed != canaries {
			t.Errorf("%d pods were harmed, want %d", harmed, canaries)
		}
	})
}

// awaitPlans waits until the plans of so many pods of a workload give a reason.
func (s *suite) awaitPlans(t *testing.T, server *server, workload, reason string, pods int) {
	t.Helper()
	localcluster.Eventually(t, fmt.Sprintf("%d pods with %s", pods, reason), func() error {
		found := 0
		for p, err := range server.api.PreviewPlans(t.Context(), "canaries").All() {
			if err != nil {
				return err
			}
			if has(p, workload, reason) {
				found++
			}
		}
		if found != pods {
			return fmt.Errorf("there are %d", found)
		}
		return nil
	})
}

// has reports whether a plan is of a pod of a workload, and gives a reason.
func has(p *workloadresizerv1.Plan, workload, reason string) bool {
	for _, r := range p.GetReasons() {
		if r.GetCode() == reason {
			return strings.HasPrefix(p.GetPod(), workload+"-")
		}
	}
	return false
}
