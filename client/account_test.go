package client

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func TestAccount(t *testing.T) {
	t.Run("account tokens are renewed in time", accountTokensAreRenewedInTime)
}

func accountTokensAreRenewedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := 0
		var fail error
		account := &accountToken{request: func(context.Context) (string, time.Time, error) {
			requests++
			return fmt.Sprint("token-", requests), time.Now().Add(10 * time.Minute), fail
		}}
		for _, step := range []struct {
			name  string
			sleep time.Duration
			fail  error
			want  string
		}{
			{"the first is requested", 0, nil, "token-1"},
			{"it is kept while it lives", 8*time.Minute - time.Second, nil, "token-1"},
			{"it is renewed before it ends", time.Second, nil, "token-2"},
			{"what fails is an error", 9 * time.Minute, errors.New("no"), ""},
			{"and is requested again", 0, nil, "token-4"},
		} {
			time.Sleep(step.sleep)
			fail = step.fail
			if got, err := account.get(t.Context()); got != step.want || !errors.Is(err, step.fail) {
				t.Errorf("%s: got %q, %v; want %q", step.name, got, err, step.want)
			}
		}
	})
}
