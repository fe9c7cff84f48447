package selfsigned

import (
	"testing"
	"time"
)

// must fails the test if a certificate cannot be created.
func must(t *testing.T) func(content, error) content {
	return func(c content, err error) content {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
}

func TestNext(t *testing.T) {
	t.Run("nothing is served before it is published", nothingIsServedBeforeItIsPublished)
}

func nothingIsServedBeforeItIsPublished(t *testing.T) {
	const day = 24 * time.Hour
	begin := time.Unix(1_700_000_000, 0)
	names := []string{host}
	authority := must(t)(content{}.withAuthority(names, begin))
	complete := must(t)(authority.withServing(names, begin))
	keyless := complete
	keyless.key = nil
	// A second authority, created when half of the certificate's period is left.
	late := begin.Add(15 * day)
	moving := must(t)(complete.withAuthority(names, late))
	moved := must(t)(moving.withServing(names, late.Add(2*day)))
	for _, tc := range []struct {
		name      string
		content   content
		published bool
		after     time.Duration
		want      step
	}{
		{"no content", content{}, false, 0, renewAuthority},
		{"an authority that is not published", authority, false, 0, publish},
		{"the first authority signs as soon as it is published", authority, true, 0, renewServing},
		{"nothing due", complete, true, day, nothing},
		{"the published authority is gone", complete, false, day, publish},
		{"a certificate before two thirds of its period", complete, true, 19 * day, nothing},
		{"a certificate after two thirds of its period", complete, true, 20 * day, renewServing},
		{"a certificate of a known authority that is not published now", complete, false, 20 * day, renewServing},
		{"a missing key", keyless, true, day, renewAuthority},
		{"an authority before two thirds of its period", authority, false, authorityLife/3*2 - day, publish},
		{"an authority after two thirds of its period", complete, true, authorityLife / 3 * 2, renewAuthority},
		{"a second authority is published first", moving, false, 15 * day, publish},
		{"a second authority waits a day after it is published", moving, true, 15*day + settle - time.Hour, nothing},
		{"a second authority then signs", moving, true, 15*day + settle, renewServing},
		{"a second authority does not sign before it is published", moving, false, 25 * day, publish},
		{"the old authority stays for a day", moved, true, 17*day + settle - time.Hour, nothing},
		{"the old authority is then removed", moved, true, 17*day + settle, dropAuthorities},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.content.next(names, tc.published, begin.Add(tc.after)); got != tc.want {
				t.Errorf("step %d, want %d", got, tc.want)
			}
		})
	}
	t.Run("another name", func(t *testing.T) {
		if got := complete.next([]string{"other"}, true, begin); got != renewAuthority {
			t.Errorf("step %d", got)
		}
		both := must(t)(complete.withAuthority([]string{"other"}, begin))
		if got := both.next(names, false, begin); got != publish {
			t.Errorf("step %d for the previous name", got)
		}
		if got := both.next([]string{"other"}, true, begin.Add(settle)); got != renewServing {
			t.Errorf("step %d once the authority is known", got)
		}
	})
	t.Run("fewer names need no new certificate", func(t *testing.T) {
		if got := complete.next(nil, true, begin); got != nothing {
			t.Errorf("step %d", got)
		}
	})
}
