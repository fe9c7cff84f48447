package access

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/internal/fair"
)

// numbered returns the names of namespaces.
func numbered(count int) (namespaces []string) {
	for n := range count {
		namespaces = append(namespaces, fmt.Sprintf("%05d", n))
	}
	return namespaces
}

// inBubble returns what asking does, with the clock of the test's bubble.
func inBubble(a *answers) *Access {
	return New(Config{Tokens: tokenReviews{a}, Rights: rightReviews{a}, Audiences: []string{"ours"}, Clock: clock.RealClock{}})
}

// onlyIn allows only one namespace, after a time.
func onlyIn(namespace string, took time.Duration) func(context.Context, *authorizationv1.ResourceAttributes) (bool, error) {
	return func(ctx context.Context, to *authorizationv1.ResourceAttributes) (bool, error) {
		select {
		case <-time.After(took):
			return to.Namespace == namespace, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// mayReview checks that no reviews for an origin are in progress: as many as are allowed may begin.
func mayReview(t *testing.T, reviewing *fair.Queue, origin string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // Nothing may wait.
	for n := range reviewsPerOrigin {
		leave, err := reviewing.Enter(ctx, fair.Turn{Key: fair.Key{Origin: origin}})
		if err != nil {
			t.Fatalf("after all reviews ended, only %d more may begin", n)
		}
		defer leave()
	}
}

func TestVisibility(t *testing.T) {
	t.Run("reviews the namespaces of a list at most eight at a time per caller", reviewsTheNamespacesOfAListAtMostEightAtATimePerCaller)
	t.Run("a list that is cut off continues with the next one", aListThatIsCutOffContinuesWithTheNextOne)
	t.Run("decisions of a list that was cut off expire", decisionsOfAListThatWasCutOffExpire)
	t.Run("a list caches for a minute what a caller cannot see", aListCachesForAMinuteWhatACallerCannotSee)
	t.Run("the reviews of a list end with it", theReviewsOfAListEndWithIt)
	t.Run("a panic reaches the call", aPanicReachesTheCall)
	t.Run("reports a failed review", reportsAFailedReview)
}

func reviewsTheNamespacesOfAListAtMostEightAtATimePerCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int64
		asked := &answers{}
		slow := onlyIn("00007", time.Second)
		asked.rights = func(ctx context.Context, to *authorizationv1.ResourceAttributes) (bool, error) {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			return slow(ctx, to)
		}
		a := inBubble(asked)
		done := make(chan []string)
		const lists = 3
		for range lists {
			go func() {
				visible, err := a.View(NewContext(t.Context(), Caller{Name: "ann"})).Visible(numbered(80)...)
				if err != nil {
					t.Error(err)
				}
				done <- visible
			}()
		}
		// Another caller has reviews of its own.
		time.Sleep(1500 * time.Millisecond)
		began := time.Now()
		if sees, err := a.View(NewContext(t.Context(), Caller{Name: "ben"})).Sees("00007"); err != nil || !sees || time.Since(began) != 2*time.Second {
			t.Errorf("another caller: %v, %v after %v", sees, err, time.Since(began))
		}
		for range lists {
			if visible := <-done; !slices.Equal(visible, []string{"00007"}) {
				t.Errorf("visible: %q", visible)
			}
		}
		// All namespaces together, and each of them once, although three lists needed them.
		if got := asked.rightsAsked.Load(); got != 1+80+2 {
			t.Errorf("%d reviews", got)
		}
		if most.Load() > reviewsPerOrigin+1 { // One is ben's.
			t.Errorf("%d reviews at a time", most.Load())
		}
		mayReview(t, a.visibility.reviewing, "ann")
	})
}

func aListThatIsCutOffContinuesWithTheNextOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := &answers{rights: func(ctx context.Context, to *authorizationv1.ResourceAttributes) (bool, error) {
			time.Sleep(time.Second)
			return to.Namespace != "", nil
		}}
		a := inBubble(asked)
		namespaces := numbered(1200) // 150 seconds: longer than a call, and than decisions are cached.
		var errs []error
		for range 10 {
			ctx, cancel := context.WithTimeout(NewContext(t.Context(), Caller{Name: "ann"}), 30*time.Second)
			began := time.Now()
			visible, err := a.View(ctx).Visible(namespaces...)
			cancel()
			if err == nil {
				if len(visible) != len(namespaces) {
					t.Errorf("%d are visible", len(visible))
				}
				break
			}
			if took := time.Since(began); took > 29*time.Second {
				t.Errorf("the error comes after %v, too late for a call of 30s", took)
			}
			checkError(t, err, codes.ResourceExhausted, "TOO_MANY_NAMESPACES")
			errs = append(errs, err)
		}
		if len(errs) == 0 || len(errs) > 6 {
			t.Errorf("%d lists were cut off", len(errs))
		}
		if got := asked.rightsAsked.Load(); got > 1350 {
			t.Errorf("%d reviews of %d namespaces", got, len(namespaces))
		}
	})
}

// Otherwise, a caller could keep its rights after they are revoked by lists that it cuts off.
func decisionsOfAListThatWasCutOffExpire(t *testing.T) {
	asked := &answers{rights: func(_ context.Context, to *authorizationv1.ResourceAttributes) (bool, error) {
		return to.Namespace != "", nil
	}}
	a, clock := asking(asked)
	ctx := NewContext(t.Context(), Caller{Name: "ann"})
	if visible, err := a.View(ctx).Visible("shop"); err != nil || len(visible) != 1 {
		t.Fatal(visible, err)
	}
	id := identityOf(ctx)
	a.visibility.continueSoon(id, clock.Now())
	asked.rights = deny
	var seen time.Duration
	for passed := time.Duration(0); passed < 10*time.Minute; passed += 30 * time.Second {
		visible, err := a.View(ctx).Visible("shop")
		if err != nil {
			t.Fatal(err)
		}
		if len(visible) > 0 {
			seen = passed
		}
		a.visibility.continueSoon(id, clock.Now())
		clock.SetTime(clock.Now().Add(30 * time.Second))
	}
	if seen == 0 || seen > continuedFor+continueWithin {
		t.Errorf("a revoked right counts for %v", seen)
	}
}

func aListCachesForAMinuteWhatACallerCannotSee(t *testing.T) {
	asked := &answers{rights: deny}
	a, clock := asking(asked)
	ctx := NewContext(t.Context(), Caller{Name: "ann"})
	check := func(want int, passed time.Duration) {
		t.Helper()
		clock.SetTime(clock.Now().Add(passed))
		if visible, err := a.View(ctx).Visible("shop", "bank"); err != nil || len(visible) != want {
			t.Errorf("visible: %q, %v; want %d", visible, err, want)
		}
	}
	check(0, 0)
	asked.rights = func(_ context.Context, to *authorizationv1.ResourceAttributes) (bool, error) {
		return to.Namespace == "shop", nil
	}
	check(0, time.Minute)
	// A caller that names the namespace sees immediately that it is visible now, even in lists.
	if sees, err := a.View(ctx).Sees("shop"); err != nil || !sees {
		t.Error(sees, err)
	}
	check(1, 0)
	asked.rights = deny
	check(1, remembered)
	check(0, time.Nanosecond)
}

func theReviewsOfAListEndWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := &answers{}
		asked.rights = func(ctx context.Context, to *authorizationv1.ResourceAttributes) (bool, error) {
			if to.Namespace == "" {
				return false, nil
			}
			<-ctx.Done()
			return false, ctx.Err()
		}
		a := inBubble(asked)
		ctx, cancel := context.WithCancel(NewContext(t.Context(), Caller{Name: "ann"}))
		go func() {
			time.Sleep(time.Second)
			cancel()
		}()
		_, err := a.View(ctx).Visible(numbered(100)...)
		checkError(t, err, codes.Canceled, "")
		synctest.Wait()
		if asked.rightsAsked.Load() != 1+reviewsPerOrigin {
			t.Errorf("%d reviews", asked.rightsAsked.Load())
		}
		mayReview(t, a.visibility.reviewing, "ann")
	})
}

func aPanicReachesTheCall(t *testing.T) {
	asked := &answers{rights: func(_ context.Context, to *authorizationv1.ResourceAttributes) (bool, error) {
		if to.Namespace == "b" {
			panic("broken")
		}
		return false, nil
	}}
	a, _ := asking(asked)
	defer func() {
		if recover() == nil {
			t.Error("the call did not panic")
		}
	}()
	_, _ = a.View(NewContext(t.Context(), Caller{Name: "ann"})).Visible("a", "b", "c")
}

func reportsAFailedReview(t *testing.T) {
	asked := &answers{rights: func(_ context.Context, to *authorizationv1.ResourceAttributes) (bool, error) {
		if to.Namespace == "b" {
			return false, fmt.Errorf("no answer")
		}
		return false, nil
	}}
	a, _ := asking(asked)
	_, err := a.View(NewContext(t.Context(), Caller{Name: "ann"})).Visible("a", "b", "c")
	checkError(t, err, codes.Unavailable, "IDENTITY_NOT_READY")
}
