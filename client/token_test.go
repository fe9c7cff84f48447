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
	t.Run("renews account tokens in time", renewsAccountTokensInTime)
}

func renewsAccountTokensInTime(t *testing.T) {
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
			{"requests the first token", 0, nil, "token-1"},
			{"keeps it for four fifths of its lifetime", 8*time.Minute - time.Second, nil, "token-1"},
			{"renews it before it expires", time.Second, nil, "token-2"},
			{"returns the error of a failed request", 9 * time.Minute, errors.New("no"), ""},
			{"requests it again after a failure", 0, nil, "token-4"},
		} {
			time.Sleep(step.sleep)
			fail = step.fail
			if got, err := account.get(t.Context()); got != step.want || !errors.Is(err, step.fail) {
				t.Errorf("%s: got %q, %v; want %q", step.name, got, err, step.want)
			}
		}
	})
}
