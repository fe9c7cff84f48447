package reconciler

import (
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/hold"
)

// TestEmergency restores pods in an emergency, on replicas whose turns and requests are limited
// to one per second. The leader dies in the middle.
func TestEmergency(t *testing.T) {
	t.Parallel()
	const pods, perSecond = 300, 1
	s := newReplicasOf(t, pods)
	slow := func(c *Config) { c.ResizesPerSecond = perSecond }
	a := s.start(t, "a", slow)
	a.awaitLead(t)
	b := s.start(t, "b", slow)
	s.awaitSizes(t, "80m")

	a.limit(perSecond)
	b.limit(perSecond)
	began := time.Now()
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
	took, alone := time.Since(began), time.Second*pods/perSecond
	t.Logf("the restore took %v; it would take %v at the usual rate", took, alone)
	if took > alone/3 {
		t.Errorf("the restore took %v, no emergency: it would take %v at the usual rate", took, alone)
	}
	if table, err := b.holds.Ready(); err != nil || table.Emergencies() != 1 {
		t.Errorf("the next leader knows %d emergency restores, %v", table.Emergencies(), err)
	}
	a.cut.Store(false)
}
