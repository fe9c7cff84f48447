package plan

import (
	"strings"
	"testing"


	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

func TestContainDoesNoHarm(t *testing.T) {
	t.Run("waits after the node refused a revert", waitsAfterTheNodeRefusedARevert)
}

// Otherwise it would be reverted and put back without end.
func waitsAfterTheNodeRefusedARevert(t *testing.T) {
	first := contained(t, leaky(memoryReverted("1")), 60)
	refused := func(waiting, retry bool) func(*Snapshot) {
		return func(s *Snapshot) {
			s.Refused = &Refusal{Reason: Reason{contract.ResizeInfeasible, "no such memory"}, Wanted: first.asksFor(s, desired), Waiting: waiting, Retry: retry}
		}
	}
	for _, waiting := range []bool{false, true} {
		p := contained(t, leaky(memoryReverted("1")), 60, refused(waiting, false))
		if p.Decision != Skip || p.Reasons[0].Code != contract.RevertBlocked || !strings.Contains(p.Reasons[0].Message, "no such memory") || p.ReplanAt.IsZero() {
			t.Errorf("waiting %t: decision %v, reasons %v, again at %v", waiting, p.Decision, p.Reasons, p.ReplanAt)
		}
	}
	if p := contained(t, leaky(memoryReverted("1")), 60, refused(false, true)); p.Decision != Resize || p.Kind != Revert {
		t.Errorf("decision %v because of %v, although it may be tried again", p.Decision, p.Reasons)
	}
	// What the node refused was not this size.
	p := contained(t, leaky(), 60, func(s *Snapshot) {
		s.Refused = &Refusal{Reason: Reason{contract.ResizeInfeasible, "too much"}, Wanted: "more cpu", Waiting: true}
	})
	if p.Decision != Resize || p.Kind != Revert {
		t.Errorf("decision %v because of %v, although the node refused another size", p.Decision, p.Reasons)
	}
}
