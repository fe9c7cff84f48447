package document

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
)

func TestQueue(t *testing.T) {
	t.Run("lets the highest priority of a group proceed first, and of equal ones the oldest", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var q queue
			var order []int
			if err := q.enter(t.Context(), Turn{}); err != nil {
				t.Fatal(err)
			}
			for i, priority := range []Priority{Normal, High, Normal, Highest, High, Highest} {
				go func() {
					if err := q.enter(t.Context(), Turn{Priority: priority}); err != nil {
						t.Error(err)
					}
					order = append(order, i)
					q.leave()
				}()
				synctest.Wait()
			}
			q.leave()
			synctest.Wait()
			if want := []int{3, 5, 1, 4, 0, 2}; !slices.Equal(order, want) || q.busy {
				t.Errorf("order %v, want %v; busy %v", order, want, q.busy)
			}
		})
	})
	t.Run("a group that sends many writes does not delay others, whatever their priority", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var q queue
			if err := q.enter(t.Context(), Turn{}); err != nil {
				t.Fatal(err)
			}
			var order []string
			wait := func(turn Turn) {
				go func() {
					if err := q.enter(t.Context(), turn); err != nil {
						t.Error(err)
					}
					order = append(order, turn.Group)
					q.leave()
				}()
				synctest.Wait()
			}
			for range 20 {
				wait(Turn{High, "flood"})
			}
			for range 3 {
				wait(Turn{Normal, "shop"})
			}
			q.leave()
			synctest.Wait()
			if want := []string{"flood", "shop", "flood", "shop", "flood", "shop"}; !slices.Equal(order[:6], want) || q.busy || len(q.served) > 0 {
				t.Errorf("order %v; busy %v, %v", order, q.busy, q.served)
			}
		})
	})
	t.Run("a write that no longer waits has no turn", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var q queue
			if err := q.enter(t.Context(), Turn{}); err != nil {
				t.Fatal(err)
			}
			gone, cancel := context.WithCancel(t.Context())
			left := make(chan error, 1)
			go func() { left <- q.enter(gone, Turn{Priority: Highest}) }()
			synctest.Wait()
			cancel()
			if err := <-left; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			q.leave()
			if q.busy {
				t.Error("the turn went to a write that no longer waits")
			}
		})
	})
	t.Run("a turn that comes when the write gives up goes to the next one", func(t *testing.T) {
		for range 100 { // Which of the two is seen first is random.
			synctest.Test(t, func(t *testing.T) {
				var q queue
				if err := q.enter(t.Context(), Turn{}); err != nil {
					t.Fatal(err)
				}
				gone, cancel := context.WithCancel(t.Context())
				go func() {
					if q.enter(gone, Turn{}) == nil {
						q.leave()
					}
				}()
				synctest.Wait()
				q.mu.Lock() // So that neither can proceed in between.
				cancel()
				q.next()
				q.mu.Unlock()
				synctest.Wait()
				if q.busy {
					t.Fatal("nobody has the turn")
				}
			})
		}
	})
}
