package reconciler

import (
	"testing"

	"github.com/workload-resizer/workload-resizer/reconciler/hold"
)

// TestEmergency restores pods in an emergency, on replicas whose turns and requests are limited
// to 36 per hour. The leader dies in the middle.
func TestEmergency(t *testing.T) {
	t.Parallel()
	const pods, perHour = 300, 36
	s := newReplicasOf(t, pods)
	slow := func(c *Config) { c.ResizesPerSecond = perHour / 3600. }
	a := s.start(t, "a", slow)
	a.awaitLead(t)
	b := s.start(t, "b", slow)
	s.awaitSizes(t, "80m")

	// At this rate, the restore would take hours, and no test waits that long.
	a.limit(perHour / 3600.)
	b.limit(perHour / 3600.)
	if _, err := a.holds.Put(t.Context(), hold.Hold{Kind: hold.Restore, Emergency: true, Reason: "everything is worse"}); err != nil {
		t.Fatal(err)
	}
	a.awaitWrites(t, pods/3)
	a.cut.Store(true)
	if n := s.sized("100m"); n == pods {
		t.Error("all pods were restored before the leader died")
	}
	b.awaitLead(t)
	s.awaitSizes(t, "100m")
	if table, err := b.holds.Ready(); err != nil || table.Emergencies() != 1 {
		t.Errorf("the next leader knows %d emergency restores, %v", table.Emergencies(), err)
	}
	a.cut.Store(false)
}
