package fair

import (
	"fmt"
	"testing"
	"time"
)

func TestRate(t *testing.T) {
	t.Run("a credential alone can use the rate of its account", aCredentialAloneCanUseTheRateOfItsAccount)
	t.Run("a credential that calls without pause does not keep others out", aCredentialThatCallsWithoutPauseDoesNotKeepOthersOut)
	t.Run("what a credential does not use is left to the others", whatACredentialDoesNotUseIsLeftToTheOthers)
	t.Run("all credentials together keep to the rate of the account", allCredentialsTogetherKeepToTheRateOfTheAccount)
	t.Run("forgets inactive credentials", forgetsInactiveCredentials)
	t.Run("accounts of an origin keep to its rate, and use nothing up if they are refused", accountsOfAnOriginKeepToItsRate)
	t.Run("remembers those that were used last", remembersThoseThatWereUsedLast)
}

// ofAccount returns the rate of an account.
func ofAccount(perSecond float64, burst int) *Rate {
	return NewRate(Rates{PerAccount: Burst{perSecond, burst}}, 100)
}

// allow reports whether a credential of the account may call.
func allow(rate *Rate, credential string, now time.Time) bool {
	_, ok := rate.Allow(Key{Account: "team", Credential: credential}, now)
	return ok
}

// active returns how many credentials of the account count as active.
func active(rate *Rate) int { return len(rate.account(Key{Account: "team"}).active.byKey) }

// allowed lets callers try to call every five milliseconds for a minute, in this order, and
// returns how many calls of each are allowed. Callers with a pause try only every so often.
func allowed(rate *Rate, begin time.Time, pauses map[string]time.Duration, order ...string) map[string]int {
	counts := map[string]int{}
	next := map[string]time.Duration{}
	for passed := time.Duration(0); passed < time.Minute; passed += 5 * time.Millisecond {
		for _, who := range order {
			if passed >= next[who] && allow(rate, who, begin.Add(passed)) {
				counts[who]++
				next[who] = passed + pauses[who]
			}
		}
	}
	return counts
}

var began = time.Unix(1_800_000_000, 0)

func aCredentialAloneCanUseTheRateOfItsAccount(t *testing.T) {
	rate := ofAccount(50, 200)
	got := allowed(rate, began, nil, "a")["a"]
	if want := 50 * 60; got < want+150 || got > want+200 {
		t.Errorf("%d calls in a minute, want %d and most of a burst of 200", got, want)
	}
}

func aCredentialThatCallsWithoutPauseDoesNotKeepOthersOut(t *testing.T) {
	for hogs := 1; hogs <= 5; hogs++ {
		t.Run(fmt.Sprint(hogs, " of them"), func(t *testing.T) {
			rate := ofAccount(50, 200)
			var order []string
			for n := range hogs {
				order = append(order, fmt.Sprint("hog", n))
			}
			order = append(order, "b") // The last each time.
			now := began
			for _, calm := range []time.Duration{0, 11 * time.Second} {
				allowed(rate, now, nil, order[:hogs]...)
				now = now.Add(time.Minute)
				if !allow(rate, "b", now) {
					t.Errorf("a newcomer is refused, %v after its last call", calm+time.Minute)
				}
				now = now.Add(calm)
			}
			got := allowed(rate, now, nil, order...)
			if least := 50 * 60 / (hogs + 2); got["b"] < least {
				t.Errorf("%d calls in a minute, want at least %d: %v", got["b"], least, got)
			}
		})
	}
}

func whatACredentialDoesNotUseIsLeftToTheOthers(t *testing.T) {
	rate := ofAccount(50, 200)
	got := allowed(rate, began, map[string]time.Duration{"b": time.Second}, "a", "b")
	if got["b"] != 60 || got["a"] < 50*60-60 {
		t.Errorf("%v", got)
	}
}

func allCredentialsTogetherKeepToTheRateOfTheAccount(t *testing.T) {
	rate := ofAccount(50, 200)
	total := 0
	for _, count := range allowed(rate, began, nil, "a", "b", "", "c") {
		total += count
	}
	if total > 50*60+200 {
		t.Errorf("%d calls in a minute", total)
	}
}

func forgetsInactiveCredentials(t *testing.T) {
	rate := ofAccount(1e6, 1e6)
	for n := range 2 * mostCredentials {
		allow(rate, fmt.Sprint(n), began)
	}
	if active(rate) != mostCredentials {
		t.Errorf("%d credentials", active(rate))
	}
	if allow(rate, "new", began.Add(activeFor+1)); active(rate) != 1 {
		t.Errorf("%d credentials after a while", active(rate))
	}
}

func accountsOfAnOriginKeepToItsRate(t *testing.T) {
	rate := NewRate(Rates{PerOrigin: Burst{1, 10}, PerAccount: Burst{1, 6}}, 100)
	call := func(origin, account string) (Level, bool) {
		return rate.Allow(Key{Origin: origin, Account: account}, began)
	}
	for _, step := range []struct {
		origin, account string
		times           int
		full            Level
	}{{"here", "a", 6, Account}, {"here", "b", 4, Origin}, {"here", "c", 0, Origin}, {"there", "a", 6, Account}, {"there", "b", 4, Origin}} {
		times := 0
		full, ok := call(step.origin, step.account)
		for ; ok; full, ok = call(step.origin, step.account) {
			times++
		}
		if times != step.times || full != step.full {
			t.Errorf("%s at %s: %d times, then level %d is full; want %d, %d", step.account, step.origin, times, full, step.times, step.full)
		}
	}
	// b has used up only what it was allowed, not what it was refused.
	if left := rate.account(Key{Origin: "here", Account: "b"}).all.TokensAt(began); left != 2 {
		t.Errorf("%g are left", left)
	}
}

func remembersThoseThatWereUsedLast(t *testing.T) {
	rate := NewRate(Rates{PerOrigin: Burst{1, 1}}, 2)
	call := func(origin string) bool {
		_, ok := rate.Allow(Key{Origin: origin}, began)
		return ok
	}
	for i, step := range []struct {
		origin string
		want   bool
	}{{"a", true}, {"b", true}, {"a", false}, {"c", true}, {"a", false}, {"b", true}, {"c", true}} {
		if got := call(step.origin); got != step.want {
			t.Errorf("call %d, from %s: %v", i, step.origin, got)
		}
	}
}
