package limits

import (
	"context"
	"fmt"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

// sharing returns the context of a call with a credential of an account that several share.
func sharing(t *testing.T, credential string) context.Context {
	return access.NewContext(t.Context(), access.Caller{Name: "team", Extra: map[string][]string{"authentication.kubernetes.io/credential-id": {credential}}})
}

func TestShares(t *testing.T) {
	t.Run("a credential alone can use the rate of its account", aCredentialAloneCanUseTheRateOfItsAccount)
	t.Run("a credential that calls without pause does not keep others out", aCredentialThatCallsWithoutPauseDoesNotKeepOthersOut)
	t.Run("what a credential does not use is left to the others", whatACredentialDoesNotUseIsLeftToTheOthers)
	t.Run("all credentials together keep to the rate of the account", allCredentialsTogetherKeepToTheRateOfTheAccount)
	t.Run("forgets inactive credentials", forgetsInactiveCredentials)
	t.Run("a credential leaves previews and watches to others", aCredentialLeavesPreviewsAndWatchesToOthers)
	t.Run("a caller that is bound to a node has no share", aCallerThatIsBoundToANodeHasNoShare)
}

// allowed lets callers try to call every five milliseconds for a minute, in this order, and
// returns how many calls of each are allowed. Callers with a pause try only every so often.
func allowed(s *shares, begin time.Time, pauses map[string]time.Duration, order ...string) map[string]int {
	counts := map[string]int{}
	next := map[string]time.Duration{}
	for passed := time.Duration(0); passed < time.Minute; passed += 5 * time.Millisecond {
		for _, who := range order {
			if passed >= next[who] && s.allow(who, begin.Add(passed)) {
				counts[who]++
				next[who] = passed + pauses[who]
			}
		}
	}
	return counts
}

var began = time.Unix(1_800_000_000, 0)

func aCredentialAloneCanUseTheRateOfItsAccount(t *testing.T) {
	s := newShares(50, 200)
	got := allowed(s, began, nil, "a")["a"]
	if want := 50 * 60; got < want+150 || got > want+200 {
		t.Errorf("%d calls in a minute, want %d and most of a burst of 200", got, want)
	}
}

func aCredentialThatCallsWithoutPauseDoesNotKeepOthersOut(t *testing.T) {
	for hogs := 1; hogs <= 5; hogs++ {
		t.Run(fmt.Sprint(hogs, " of them"), func(t *testing.T) {
			s := newShares(50, 200)
			var order []string
			for n := range hogs {
				order = append(order, fmt.Sprint("hog", n))
			}
			order = append(order, "b") // The last each time.
			now := began
			for _, calm := range []time.Duration{0, 11 * time.Second} {
				allowed(s, now, nil, order[:hogs]...)
				now = now.Add(time.Minute)
				if !s.allow("b", now) {
					t.Errorf("a newcomer is refused, %v after its last call", calm+time.Minute)
				}
				now = now.Add(calm)
			}
			got := allowed(s, now, nil, order...)
			if least := 50 * 60 / (hogs + 2); got["b"] < least {
				t.Errorf("%d calls in a minute, want at least %d: %v", got["b"], least, got)
			}
		})
	}
}

func whatACredentialDoesNotUseIsLeftToTheOthers(t *testing.T) {
	s := newShares(50, 200)
	got := allowed(s, began, map[string]time.Duration{"b": time.Second}, "a", "b")
	if got["b"] != 60 || got["a"] < 50*60-60 {
		t.Errorf("%v", got)
	}
}

func allCredentialsTogetherKeepToTheRateOfTheAccount(t *testing.T) {
	s := newShares(50, 200)
	total := 0
	for _, count := range allowed(s, began, nil, "a", "b", "", "c") {
		total += count
	}
	if total > 50*60+200 {
		t.Errorf("%d calls in a minute", total)
	}
}

func forgetsInactiveCredentials(t *testing.T) {
	s := newShares(1e6, 1e6)
	for n := range 2 * mostCredentials {
		s.allow(fmt.Sprint(n), began)
	}
	if len(s.credentials) != mostCredentials {
		t.Errorf("%d credentials", len(s.credentials))
	}
	if s.allow("new", began.Add(activeFor+1)); len(s.credentials) != 1 {
		t.Errorf("%d credentials after a while", len(s.credentials))
	}
}

func aCredentialLeavesPreviewsAndWatchesToOthers(t *testing.T) {
	slots := NewSlots(8)
	for range 2 {
		if _, err := slots.Take(sharing(t, "a")); err != nil {
			t.Fatal(err)
		}
	}
	_, err := slots.Take(sharing(t, "a"))
	servertest.CheckError(t, err, codes.ResourceExhausted, "TOO_MANY_PREVIEWS", "your credential already has 2")
	for range 2 {
		if _, err := slots.Take(sharing(t, "b")); err != nil {
			t.Error(err)
		}
	}
	_, err = slots.Take(sharing(t, "c"))
	servertest.CheckError(t, err, codes.ResourceExhausted, "TOO_MANY_PREVIEWS", "you already have 4")

	l := New(Limits{WatchesPerCaller: 3})
	for range 2 {
		if _, err := l.enterWatch(access.Who{Origin: "team", Account: "team", Credential: "a"}); err != nil {
			t.Fatal(err)
		}
	}
	_, err = l.enterWatch(access.Who{Origin: "team", Account: "team", Credential: "a"})
	servertest.CheckError(t, err, codes.ResourceExhausted, "TOO_MANY_WATCHES", "your credential already has 2 watches")
	if _, err := l.enterWatch(access.Who{Origin: "team", Account: "team", Credential: "b"}); err != nil {
		t.Error(err)
	}
	_, err = l.enterWatch(access.Who{Origin: "team", Account: "team", Credential: "b"})
	servertest.CheckError(t, err, codes.ResourceExhausted, "TOO_MANY_WATCHES", "the caller already has 3 watches")
}

// Its account has limits for each node.
func aCallerThatIsBoundToANodeHasNoShare(t *testing.T) {
	caller := access.Caller{Name: "agent", Extra: map[string][]string{"authentication.kubernetes.io/credential-id": {"JTI=a"}, "authentication.kubernetes.io/node-name": {"n"}}}
	if got := credentialOf(&caller); got != "" {
		t.Errorf("shares by %q", got)
	}
	delete(caller.Extra, "authentication.kubernetes.io/node-name")
	if got := credentialOf(&caller); got != "JTI=a" {
		t.Errorf("shares by %q", got)
	}
}
