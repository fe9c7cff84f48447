package fair

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestQueue(t *testing.T) {
	t.Run("the highest priority of an origin goes first, and of equal ones the oldest", theHighestPriorityOfAnOriginGoesFirst)
	t.Run("an origin with many who wait does not delay others, whatever their priority", anOriginWithManyWhoWaitDoesNotDelayOthers)
	t.Run("the highest priority takes precedence over all origins", theHighestPriorityTakesPrecedenceOverAllOrigins)
	t.Run("the origin that holds least is next", theOriginThatHoldsLeastIsNext)
	t.Run("an origin with its share keeps no other one waiting", anOriginWithItsShareKeepsNoOtherOneWaiting)
	t.Run("who no longer waits has no turn", whoNoLongerWaitsHasNoTurn)
	t.Run("giving up takes no longer if many others wait", givingUpTakesNoLongerIfManyOthersWait)
	t.Run("a turn that comes when somebody gives up goes to the next one", aTurnThatComesWhenSomebodyGivesUpGoesToTheNextOne)
}

// idle checks that nobody holds anything, and that nobody waits.
func (q *Queue) idle(t *testing.T) {
	t.Helper()
	q.mu.Lock()
	defer q.mu.Unlock()
	if held := q.pool.Held(All, Key{}); held != 0 || len(q.lines) != 0 {
		t.Errorf("%d are held; waiting: %v", held, q.lines)
	}
}

// of returns a turn of an origin.
func of(origin string, priority Priority) Turn { return Turn{Key{Origin: origin}, priority} }

// enter enters a queue that has room.
func enter(t *testing.T, q *Queue, turn Turn) (leave func()) {
	t.Helper()
	leave, err := q.Enter(t.Context(), turn)
	if err != nil {
		t.Fatal(err)
	}
	return leave
}

// wait lets somebody wait, and leave after calling came.
func wait(t *testing.T, q *Queue, turn Turn, came func()) {
	t.Helper()
	go func() {
		leave, err := q.Enter(t.Context(), turn)
		if err != nil {
			t.Error(err)
			return
		}
		came()
		leave()
	}()
	synctest.Wait()
}

func theHighestPriorityOfAnOriginGoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(1, 0)
		var order []int
		leave := enter(t, q, Turn{})
		for i, priority := range []Priority{Normal, High, Normal, Highest, High, Highest} {
			wait(t, q, of("", priority), func() { order = append(order, i) })
		}
		leave()
		synctest.Wait()
		if want := []int{3, 5, 1, 4, 0, 2}; !slices.Equal(order, want) {
			t.Errorf("order %v, want %v", order, want)
		}
		q.idle(t)
	})
}

func anOriginWithManyWhoWaitDoesNotDelayOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(1, 0)
		leave := enter(t, q, Turn{})
		var order []string
		for range 20 {
			wait(t, q, of("flood", High), func() { order = append(order, "flood") })
		}
		for range 3 {
			wait(t, q, of("shop", Normal), func() { order = append(order, "shop") })
		}
		leave()
		synctest.Wait()
		if want := []string{"flood", "shop", "flood", "shop", "flood", "shop"}; !slices.Equal(order[:6], want) || len(order) != 23 {
			t.Errorf("order %v", order)
		}
		q.idle(t)
	})
}

func theHighestPriorityTakesPrecedenceOverAllOrigins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(1, 0)
		leave := enter(t, q, Turn{})
		var order []string
		for _, origin := range []string{"shop", "bank"} {
			wait(t, q, of(origin, High), func() { order = append(order, origin) })
		}
		wait(t, q, of("cluster", Highest), func() { order = append(order, "cluster") })
		leave()
		synctest.Wait()
		if want := []string{"cluster", "shop", "bank"}; !slices.Equal(order, want) {
			t.Errorf("order %v, want %v", order, want)
		}
	})
}

func theOriginThatHoldsLeastIsNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(3, 0)
		leave := enter(t, q, of("flood", Normal))
		enter(t, q, of("flood", Normal))
		enter(t, q, of("shop", Normal))
		var order []string
		for _, origin := range []string{"flood", "shop", "bank"} {
			go func() {
				if _, err := q.Enter(t.Context(), of(origin, Normal)); err == nil {
					order = append(order, origin)
				}
			}()
			synctest.Wait()
		}
		leave() // flood and shop have one each, bank has none.
		synctest.Wait()
		if !slices.Equal(order, []string{"bank"}) {
			t.Errorf("order %v", order)
		}
	})
}

func anOriginWithItsShareKeepsNoOtherOneWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(0, 2)
		leave := enter(t, q, of("flood", Normal))
		leaveToo := enter(t, q, of("flood", Normal))
		var came atomic.Int32
		for range 10 {
			wait(t, q, of("flood", Normal), func() { came.Add(1) })
		}
		if came := came.Load(); came != 0 {
			t.Errorf("%d came although their origin has its share", came)
		}
		enter(t, q, of("shop", Normal))() // It would wait forever.
		leave()
		leaveToo()
		synctest.Wait()
		if came := came.Load(); came != 10 {
			t.Errorf("%d came, want 10", came)
		}
		q.idle(t)
	})
}

func whoNoLongerWaitsHasNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(1, 0)
		leave := enter(t, q, Turn{})
		gone, cancel := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() {
			_, err := q.Enter(gone, of("", Highest))
			left <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		leave()
		q.idle(t)
	})
}

// A caller can have as many calls that wait as its connections have streams, and cancel all of them.
func givingUpTakesNoLongerIfManyOthersWait(t *testing.T) {
	givesUp := func(others int) (least time.Duration) {
		q := NewQueue(0, 1)
		enter(t, q, of("shop", Normal))
		all := make([]waiter, others)
		for i := range all {
			all[i].Turn = of("shop", Normal)
			q.wait(&all[i])
		}
		for i := range 100 {
			begin := time.Now()
			q.leave(&all[others/2+i])
			if took := time.Since(begin); i == 0 || took < least {
				least = took
			}
		}
		return least
	}
	if few, many := givesUp(200), givesUp(200_000); many > 20*few {
		t.Errorf("it takes %v, and %v if few others wait", many, few)
	}
}

func aTurnThatComesWhenSomebodyGivesUpGoesToTheNextOne(t *testing.T) {
	for range 100 { // Which of the two is seen first is random.
		synctest.Test(t, func(t *testing.T) {
			q := NewQueue(1, 0)
			first := enter(t, q, Turn{})
			gone, cancel := context.WithCancel(t.Context())
			go func() {
				if leave, err := q.Enter(gone, Turn{}); err == nil {
					leave()
				}
			}()
			synctest.Wait()
			q.mu.Lock() // So that neither can proceed in between.
			cancel()
			q.mu.Unlock()
			first()
			synctest.Wait()
			q.idle(t)
		})
	}
}

// In any order of arrivals and departures, never too much is held, and nobody waits while there is room.
func TestQueueIsFair(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			const all, perOrigin = 4, 3
			q := NewQueue(all, perOrigin)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			for n := range 300 {
				turn := of(caller(r).Origin, Priority(r.IntN(int(Highest)+1)))
				until, giveUp := context.WithCancel(ctx)
				holds, waits := time.Duration(r.IntN(1000))*time.Millisecond, time.Duration(r.IntN(4000))*time.Millisecond
				go func() {
					defer giveUp()
					go func() {
						time.Sleep(waits)
						giveUp()
					}()
					if leave, err := q.Enter(until, turn); err == nil {
						time.Sleep(holds)
						leave()
					}
				}()
				synctest.Wait()
				if err := q.fair(all, perOrigin); err != nil {
					t.Fatalf("seed %d, step %d: %v", seed, n, err)
				}
				time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
				synctest.Wait()
				if err := q.fair(all, perOrigin); err != nil {
					t.Fatalf("seed %d, step %d: %v", seed, n, err)
				}
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			q.idle(t)
		})
	}
}

// fair returns what is unfair in a queue.
func (q *Queue) fair(all, perOrigin int) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	held := q.pool.Held(All, Key{})
	if held > all {
		return fmt.Errorf("%d are held", held)
	}
	for origin, l := range q.lines {
		if of := q.pool.Held(Origin, Key{Origin: origin}); of > perOrigin || held < all && of < perOrigin {
			return fmt.Errorf("%v of %s wait, which holds %d of %d", l.first(), origin, of, held)
		}
	}
	return nil
}
