package guard_test

import (
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Memory was reverted from 512Mi to 1Gi at second 50. The cooldown takes 10 minutes.
func TestForbids(t *testing.T) {
	memory := func(request, limit string) sizing.Amount {
		return podtest.Amounts{"1", "1", request, limit}.Container().Memory
	}
	for _, tc := range []struct {
		name    string
		size    sizing.Amount
		now     int
		forbids bool
		until   int
	}{
		{name: "the size that made the pod worse", size: memory("512Mi", "512Mi"), now: 100, forbids: true},
		{name: "the size that made the pod worse, long after the cooldown", size: memory("512Mi", "512Mi"), now: 100_000, forbids: true},
		{name: "a different size in the last second of the cooldown", size: memory("768Mi", "768Mi"), now: 649, forbids: true, until: 650},
		{name: "a different size after the cooldown", size: memory("768Mi", "768Mi"), now: 650},
		{name: "a smaller size after the cooldown", size: memory("256Mi", "256Mi"), now: 650},
		{name: "a lower request alone", size: memory("768Mi", "1Gi"), now: 100, forbids: true, until: 650},
		{name: "a lower limit alone", size: memory("1Gi", "1000Mi"), now: 100, forbids: true, until: 650},
		{name: "the size before the resize", size: memory("1Gi", "1Gi"), now: 100},
		{name: "a larger size", size: memory("1Gi", "2Gi"), now: 100},
		{name: "a size without a limit", size: sizing.Amount{Request: 1 << 30}, now: 100},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := &pod.Revert{Measure: sizing.Memory, At: podtest.At(50), Hurt: memory("512Mi", "512Mi"), Back: memory("1Gi", "1Gi"), Times: 1}
			until, forbids := guard.Forbids(r, tc.size, 10*time.Minute, podtest.At(tc.now))
			var want time.Time
			if tc.until != 0 {
				want = podtest.At(tc.until)
			}
			if forbids != tc.forbids || !until.Equal(want) {
				t.Errorf("forbidden: %t, until %v; want %t, %v", forbids, until, tc.forbids, want)
			}
		})
	}
}
