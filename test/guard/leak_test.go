package guard

import (
	"fmt"
	"testing"
	"time"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// growth is how the memory of a container grows after its start: by one Mi after each time, from 16Mi to
// 90Mi, which the size that its author wrote has room for, but the lowered size has not.
type growth struct {
	name  string
	every time.Duration
}

// work returns the growth as what the container does.
func (g *growth) work() string {
	return fmt.Sprintf("{cpu: 10m, memory: [{constant: 16Mi}, {leak: 1Mi, every: %v, upTo: 74Mi}]}", g.every)
}

// mebibytes returns the memory of a container of this age.
func (g *growth) mebibytes(age time.Duration) int64 { return 16 + min(74, int64(age/g.every)) }

// TestMemoryGrows lets memory grow slowly, as in a leak, and fast, as in a spike. It counts the kills for lack
// of memory with agents, which report a container near its limit within seconds, and without.
func TestMemoryGrows(t *testing.T) {
	t.Parallel()
	const pods, reporting = 5, 2 * time.Second
	growths := []growth{{"leak", 1500 * time.Millisecond}, {"spike", time.Second}}
	for name, reports := range map[string]bool{"with agents": true, "without agents": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSuite(t, localcluster.Options{Nodes: "n4=1"}, configOf(1.25, fmt.Sprintf("guard: {window: 10m, unready: %v, maxUnproven: 100%%, breaker: false}", unready)))
			server := s.serve(t, nil, alone...)
			for _, g := range growths {
				s.apply(t, (&workload{name: g.name, replicas: pods, work: g.work()}).manifest("grows"))
			}
			for deadline := time.Now().Add(2 * localcluster.Patience); time.Now().Before(deadline) && !s.grown(growths, pods); time.Sleep(reporting) {
				for i := range growths {
					if reports {
						s.tellGrowth(t, server, &growths[i])
					}
				}
			}
			for _, g := range growths {
				kills := 0
				for _, c := range s.seen.of("grows", g.name) {
					kills += int(statusOf(c.pod).RestartCount)
					if sizesOf(c.pod) != loweredCPU+" "+memory {
						t.Errorf("%v has %s at the end", &c, sizesOf(c.pod))
					}
				}
				t.Logf("%s, a %s of 1Mi every %v: %d kills of %d pods", name, g.name, g.every, kills, pods)
				if want := map[bool]int{true: 0, false: pods}[reports]; kills != want {
					t.Errorf("%d kills, want %d", kills, want)
				}
			}
		})
	}
}

// grown reports whether so many pods of each growth have their former memory again, since it has grown beyond
// the lowered size, or was killed for it.
func (s *suite) grown(growths []growth, pods int) bool {
	for _, g := range growths {
		found := 0
		for _, c := range s.seen.of("grows", g.name) {
			status := statusOf(c.pod)
			whole := status.State.Running != nil && g.mebibytes(time.Since(status.State.Running.StartedAt.Time)) == g.mebibytes(time.Hour)
			if sizesOf(c.pod) == loweredCPU+" "+memory && (whole || status.RestartCount > 0) {
				found++
			}
		}
		if found < pods {
			return false
		}
	}
	return true
}

// nearLimit is how much of its memory limit a container uses that node agents report immediately.
const nearLimit = 0.9

// tellGrowth reports the pods of a growth as node agents do: those that are near their limits as soon as
// they see it.
func (s *suite) tellGrowth(t *testing.T, server *server, g *growth) {
	t.Helper()
	for _, c := range s.seen.of("grows", g.name) {
		runs := statusOf(c.pod).State.Running
		if runs == nil || !sized(&c) {
			continue
		}
		limit := c.pod.Spec.Containers[0].Resources.Limits.Memory().Value() >> 20
		if has := g.mebibytes(time.Since(runs.StartedAt.Time)); float64(has) >= nearLimit*float64(limit) {
			if err := s.tellOf(t, server, []course{c}, &workloadresizerv1.ContainerUsage{MemoryPeakBytes: new(has << 20)}, time.Second); err != nil {
				t.Error(err)
			}
		}
	}
}
