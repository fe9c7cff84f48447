package access

import (
	"context"
	"errors"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	authenticationv1 "k8s.io/api/authentication/v1"
)

func TestToken(t *testing.T) {
	t.Run("caches tokens for a limited time", cachesTokensForALimitedTime)
	t.Run("accepts only tokens for this server", acceptsOnlyTokensForThisServer)
}

func cachesTokensForALimitedTime(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	bad := func(context.Context, string) (authenticationv1.TokenReviewStatus, error) {
		return authenticationv1.TokenReviewStatus{Error: "no"}, nil
	}
	away := func(context.Context, string) (authenticationv1.TokenReviewStatus, error) {
		return authenticationv1.TokenReviewStatus{}, errors.New("connection refused")
	}
	for name, tc := range map[string]struct {
		token      string
		answer     func(context.Context, string) (authenticationv1.TokenReviewStatus, error)
		remembered time.Duration
	}{
		"a good token for ten seconds":                    {"opaque", good, 10 * time.Second},
		"a good token with a late expiry for ten seconds": {jwt(now.Add(time.Hour)), good, 10 * time.Second},
		"a good token without an expiry for ten seconds":  {"e30.e30.x", good, 10 * time.Second},
		"a good token that is not a JWT for ten seconds":  {"a.!.b", good, 10 * time.Second},
		"a good token that is not JSON for ten seconds":   {"a.AAAA.b", good, 10 * time.Second},
		"a good token until it expires":                   {jwt(now.Add(3 * time.Second)), good, 3 * time.Second},
		"a good token that has expired for a second":      {jwt(now.Add(-3 * time.Second)), good, time.Second},
		"a bad token for a second":                        {"opaque", bad, time.Second},
		"a missing answer is not cached":                  {"opaque", away, -time.Nanosecond},
	} {
		t.Run(name, func(t *testing.T) {
			asked := &answers{tokens: tc.answer}
			a, clock := asking(asked)
			check := func(at time.Duration, want int64) {
				t.Helper()
				clock.SetTime(now.Add(at))
				_, _ = a.authenticate(withToken(t.Context(), tc.token))
				if got := asked.tokensAsked.Load(); got != want {
					t.Errorf("%d reviews after %v, want %d", got, at, want)
				}
			}
			check(0, 1)
			if tc.remembered > 0 {
				check(tc.remembered, 1)
			}
			check(tc.remembered+time.Nanosecond, 2)
		})
	}
}

func acceptsOnlyTokensForThisServer(t *testing.T) {
	for name, tc := range map[string]struct {
		answer authenticationv1.TokenReviewStatus
		good   bool
	}{
		"for this server and others": {authenticationv1.TokenReviewStatus{Authenticated: true, Audiences: []string{"x", "ours"}, User: authenticationv1.UserInfo{Username: "ann"}}, true},
		"not authenticated":          {authenticationv1.TokenReviewStatus{Audiences: []string{"ours"}, User: authenticationv1.UserInfo{Username: "ann"}}, false},
		"for others":                 {authenticationv1.TokenReviewStatus{Authenticated: true, Audiences: []string{"x"}, User: authenticationv1.UserInfo{Username: "ann"}}, false},
		"for the API server alone":   {authenticationv1.TokenReviewStatus{Authenticated: true, User: authenticationv1.UserInfo{Username: "ann"}}, false},
		"of a user without a name":   {authenticationv1.TokenReviewStatus{Authenticated: true, Audiences: []string{"ours"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			a, _ := asking(&answers{tokens: func(context.Context, string) (authenticationv1.TokenReviewStatus, error) { return tc.answer, nil }})
			id, err := a.authenticate(withToken(t.Context(), "x"))
			if !tc.good {
				checkError(t, err, codes.Unauthenticated, "CREDENTIALS_INVALID")
			} else if err != nil || id.Name != "ann" {
				t.Errorf("got %v, %v", id, err)
			}
		})
	}
}
