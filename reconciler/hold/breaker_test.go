package hold

import (
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"
)

// breaks checks that the breaker of a scope is open or not, and when it was reset.
func breaks(t *testing.T, s *Store, scope Scope, open bool, reset time.Time) {
	t.Helper()
	table, err := s.Ready()
	if err != nil {
		t.Fatal(err)
	}
	if _, isOpen, at := table.Breaker(scope); isOpen != open || !at.Equal(reset) {
		t.Errorf("the breaker of %s is open: %t, reset at %s, want %t, %s", scope, isOpen, at, open, reset)
	}
}

// opensABreaker opens breakers, and resets them.
func opensABreaker(t *testing.T, at *stored) {
	at.write(t, nil)
	clock := testingclock.NewFakeClock(began)
	a, b := at.run(t, WithClock(clock)), at.run(t, WithClock(clock))
	await(t, a)
	await(t, b)
	opens := func(s *Store, scope Scope, known time.Time, want bool) {
		t.Helper()
		if opened, err := s.Open(t.Context(), scope, "3 of the last 5", known); err != nil || opened != want {
			t.Errorf("opened: %t, want %t, %v", opened, want, err)
		}
	}
	opens(a, webs, began, true)
	opens(a, webs, began, false)
	opens(b, webs, began.Add(time.Minute), false) // Another leader.
	opens(a, cluster, began, true)
	await(t, b, cluster, webs)
	if h, _, _ := b.table.Load().Breaker(webs); h.Reason != "3 of the last 5" || h.Author != "workload-resizer" || !h.Since.Equal(began) {
		t.Errorf("%+v", h)
	}
	if whole, namespaces, workloads := b.table.Load().Breakers(); whole == nil || namespaces != 0 || workloads != 1 {
		t.Errorf("breakers %v, %d, %d", whole, namespaces, workloads)
	}

	clock.Step(time.Minute)
	reset := clock.Now()
	ended, err := a.Release(t.Context(), Ending{Scope: cluster})
	if err != nil || len(ended.Holds) != 1 || ended.Holds[0].Kind != Breaker || ended.Nested != 1 {
		t.Errorf("%+v, %v", ended, err)
	}
	breaks(t, a, cluster, false, reset)
	breaks(t, a, webs, true, time.Time{})
	await(t, b, webs)
	breaks(t, b, cluster, false, reset)
	c := at.run(t, WithClock(clock)) // It starts later.
	await(t, c, webs)
	breaks(t, c, cluster, false, reset)
	if ended, err := c.Release(t.Context(), Ending{Scope: cluster}); err != nil || len(ended.Holds) > 0 {
		t.Errorf("what was reset is reset again: %+v, %v", ended, err)
	}

	opens(c, cluster, reset, false)
	opens(c, cluster, reset.Add(time.Second), true)
	breaks(t, c, cluster, true, time.Time{})
	if ended, err := c.Release(t.Context(), Ending{Scope: cluster, Kind: Breaker, Nested: true}); err != nil || len(ended.Holds) != 2 {
		t.Errorf("%+v, %v", ended, err)
	}
	clock.Step(ResetKept)
	if _, err := c.Put(t.Context(), Hold{Kind: Pause, Scope: shop}); err != nil {
		t.Fatal(err)
	}
	if data := at.read(t); len(data) != 1 {
		t.Errorf("after a week, resets are still stored: %v", data)
	}
}

func TestBreaker(t *testing.T) {
	t.Run("belongs to the cluster, a namespace or a workload", func(t *testing.T) {
		for _, scope := range []Scope{cluster, shop, webs} {
			if wrong := (Hold{Kind: Breaker, Scope: scope}).Faults(); len(wrong) > 0 {
				t.Errorf("%s: %v", scope, wrong[0])
			}
		}
		if wrong := (Hold{Kind: Breaker, Scope: web}).Faults(); len(wrong) != 1 || wrong[0].Field != "pod" {
			t.Errorf("%v", wrong)
		}
	})
	t.Run("only a breaker is reset", func(t *testing.T) {
		if wrong := (Hold{Kind: Pause, Reset: began}).Faults(); len(wrong) != 1 || wrong[0].Field != "reset" {
			t.Errorf("%v", wrong)
		}
	})
	t.Run("is reset after it opened, even if the clock of the leader was ahead", func(t *testing.T) {
		if reset, ok := (Hold{Kind: Breaker, Since: began.Add(time.Minute)}).afterReset(began); !ok || !reset.Reset.Equal(began.Add(time.Minute)) || len(reset.Faults()) > 0 {
			t.Errorf("%+v", reset)
		}
	})
	t.Run("cannot be stored like other holds", func(t *testing.T) {
		if _, err := new(Store).Put(t.Context(), Hold{Kind: Breaker}); err == nil {
			t.Error("no error")
		}
	})
	t.Run("is not there without a table", func(t *testing.T) {
		var none *Table
		if _, open, reset := none.Breaker(cluster); open || !reset.IsZero() {
			t.Errorf("open: %t, reset at %s", open, reset)
		}
		if whole, namespaces, workloads := none.Breakers(); whole != nil || namespaces != 0 || workloads != 0 {
			t.Errorf("%v, %d, %d", whole, namespaces, workloads)
		}
	})
}
