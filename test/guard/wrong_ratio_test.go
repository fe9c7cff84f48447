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

// TestWrongRatio sizes pods by a ratio that is wrong by a factor of 3: running pods, on some of which it is tried
// first, with and without the guard, and new pods, which all get it.
func TestWrongRatio(t *testing.T) {
	t.Parallel()
	guarded := fmt.Sprintf("guard: {window: 2m, unready: %v}", unready)
	for _, tc := range []struct {
		name, guard string
		isNew       bool
	}{
		{"running pods with the guard", guarded, false},
		{"running pods without the guard", "guard: {enabled: false}", false},
		{"new pods with the guard", guarded, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			const perWorkload, canaries = 20, 2
			workloads := max(1, *wrongFlag/perWorkload)
			s := newSuite(t, localcluster.Options{Nodes: fmt.Sprintf("n4=%d", 1+*wrongFlag/100)}, configOf(1, tc.guard))
			pods := map[string]int{}
			for n := range workloads {
				name := fmt.Sprint("web-", n)
				s.apply(t, (&workload{name: name, replicas: perWorkload, work: spiky}).manifest("wrong"))
				pods[name] = perWorkload
			}
			s.seen.await(t, "wrong", "", workloads*perWorkload, "running", running)
			if tc.isNew {
				s.apply(t, configOf(3, tc.guard))
				s.serve(t, nil)
			} else {
				s.align(t, "wrong", pods)
				s.apply(t, configOf(3, tc.guard))
			}
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
			switch most := workloads * canaries; {
			case tc.guard != guarded && harmed <= most || harmed == 0:
				t.Error("the ratio does too little harm")
			case tc.guard == guarded && lowered > 0:
				t.Error("want no pod that has too little memory")
			case tc.guard == guarded && !tc.isNew && harmed > most:
				t.Errorf("want at most %d pods harmed", most)
			}
		})
	}
}
