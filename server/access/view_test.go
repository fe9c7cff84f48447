package access

import (
	"context"
	"fmt"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	authorizationv1 "k8s.io/api/authorization/v1"
)

func TestView(t *testing.T) {
	t.Run("caches for five seconds what a caller cannot see", cachesForFiveSecondsWhatACallerCannotSee)
	t.Run("caches other denials for a second", cachesOtherDenialsForASecond)
	t.Run("what one caller is denied does not evict the rights of others", whatOneCallerIsDeniedDoesNotEvictTheRightsOfOthers)
	t.Run("what one caller cannot see does not evict the rights of others", whatOneCallerCannotSeeDoesNotEvictTheRightsOfOthers)
}

func cachesForFiveSecondsWhatACallerCannotSee(t *testing.T) {
	asked := &answers{rights: deny}
	a, clock := asking(asked)
	ctx := NewContext(t.Context(), Caller{Name: "ann"})
	check := func(want bool, questions int64) {
		t.Helper()
		before := asked.rightsAsked.Load()
		sees, err := a.View(ctx).Sees("shop")
		if got := asked.rightsAsked.Load() - before; err != nil || sees != want || got != questions {
			t.Errorf("%v, %v after %d questions, want %v after %d", sees, err, got, want, questions)
		}
	}
	check(false, 2) // All namespaces, and this one.
	check(false, 0)
	asked.rights = func(_ context.Context, to *authorizationv1.ResourceAttributes) (bool, error) {
		return to.Namespace == "shop", nil
	}
	clock.SetTime(clock.Now().Add(5 * time.Second))
	check(false, 0)
	clock.SetTime(clock.Now().Add(time.Nanosecond))
	check(true, 2)
	check(true, 0)
}

func cachesOtherDenialsForASecond(t *testing.T) {
	asked := &answers{rights: deny}
	a, clock := asking(asked)
	id := newIdentity(Caller{Name: "ann"})
	right := Right{"create", "pauses"}
	for range 100 {
		checkError(t, a.require(t.Context(), id, right, "shop"), codes.PermissionDenied, "NOT_AUTHORIZED")
	}
	if got := asked.rightsAsked.Load(); got != 1 {
		t.Errorf("%d reviews", got)
	}
	asked.rights = allow
	clock.SetTime(clock.Now().Add(deniedFor))
	checkError(t, a.require(t.Context(), id, right, "shop"), codes.PermissionDenied, "NOT_AUTHORIZED")
	clock.SetTime(clock.Now().Add(time.Nanosecond))
	if err := a.require(t.Context(), id, right, "shop"); err != nil {
		t.Error(err)
	}
}

func whatOneCallerIsDeniedDoesNotEvictTheRightsOfOthers(t *testing.T) {
	asked := &answers{rights: allow}
	a, _ := asking(asked)
	right, ann, bob := Right{"create", "pauses"}, newIdentity(Caller{Name: "ann"}), newIdentity(Caller{Name: "bob"})
	if err := a.require(t.Context(), ann, right, ""); err != nil {
		t.Fatal(err)
	}
	asked.rights = deny
	for n := range cacheSize + 1 {
		if err := a.require(t.Context(), bob, right, fmt.Sprint(n)); err == nil {
			t.Fatal("a denied right was granted")
		}
	}
	if err := a.require(t.Context(), ann, right, ""); err != nil {
		t.Error(err)
	}
}

func whatOneCallerCannotSeeDoesNotEvictTheRightsOfOthers(t *testing.T) {
	asked := &answers{rights: allow}
	a, _ := asking(asked)
	right, ann := Right{"list", "plans"}, newIdentity(Caller{Name: "ann"})
	if err := a.require(t.Context(), ann, right, ""); err != nil {
		t.Fatal(err)
	}
	asked.rights = deny
	view := a.View(NewContext(t.Context(), Caller{Name: "bob"}))
	namespaces := make([]string, cacheSize+1)
	for i := range namespaces {
		namespaces[i] = fmt.Sprint(i)
	}
	if visible, err := view.Visible(namespaces...); err != nil || len(visible) > 0 {
		t.Fatal(visible, err)
	}
	if err := a.require(t.Context(), ann, right, ""); err != nil {
		t.Error(err)
	}
}
