package guard

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

var (
	wrongFlag   = flag.Int("wrong", 20, "number of pods that a wrong ratio sizes, 20 per workload")
	horizonFlag = flag.Duration("horizon", 90*time.Second, "how long the wrong ratio is in effect")
)

// spiky is work that fits into its memory, but not into a third of it once a minute.
const spiky = "{cpu: 10m, memory: [{constant: 16Mi}, {spike: 40Mi, at: 40s, for: 10s, every: 1m}]}"

// TestWrongRatio sizes pods by a ratio that is wrong by a factor of 3, with and without the guard.
func TestWrongRatio(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, guard string }{
		{"with the guard", fmt.Sprintf("guard: {window: 2m, unready: %v}", unready)},
		{"without the guard", "guard: {enabled: false}"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			const perWorkload, canaries = 20, 2
			workloads := max(1, *wrongFlag/perWorkload)
			s := newSuite(t, localcluster.Options{Nodes: fmt.Sprintf("n4=%d", 1+*wrongFlag/100)}, configOf(3, tc.guard))
			for n := range workloads {
				s.apply(t, (&workload{name: fmt.Sprint("web-", n), replicas: perWorkload, work: spiky}).manifest("wrong"))
			}
			s.seen.await(t, "wrong", "", workloads*perWorkload, "running", running)
			s.serve(t, nil)
			time.Sleep(*horizonFlag) // The ratio is in effect for this long.
			harmed, kills, lowered := 0, 0, 0
			var down, longest time.Duration
			for _, c := range s.seen.of("wrong", "") {
				c.measure(time.Now())
				down, longest = down+c.down, max(longest, c.down)
				if n := int(statusOf(c.pod).RestartCount); n > 0 {
					harmed, kills = harmed+1, kills+n
				}
				if c.pod.Spec.Containers[0].Resources.Requests.Memory().String() != memory {
					lowered++
				}
			}
			t.Logf("%s, %d pods, %v: %d harmed, %d kills, not ready for %v in total and at most %v; %d have too little memory at the end",
				tc.name, workloads*perWorkload, *horizonFlag, harmed, kills, down.Round(time.Second), longest.Round(time.Second), lowered)
			switch guarded := tc.name == "with the guard"; {
			case guarded && (harmed == 0 || harmed > workloads*canaries || lowered > 0):
				t.Errorf("want at most %d pods harmed, and none that has too little memory", workloads*canaries)
			case !guarded && harmed <= workloads*canaries:
				t.Error("the ratio does too little harm")
			}
		})
	}
}
