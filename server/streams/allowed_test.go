package streams

import (
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestAllowed(t *testing.T) {
	began := time.Unix(1_800_000_000, 0)
	for _, tc := range []struct {
		name   string
		code   codes.Code
		within time.Duration
	}{
		{"a watch ends when its right is revoked", codes.PermissionDenied, askEvery},
		{"a watch ends when its token is", codes.Unauthenticated, askEvery},
		{"a watch survives an API server that does not answer, for a while", codes.Unavailable, unansweredFor + askEvery},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var a allowed
			var ended time.Duration
			answer := codes.OK
			for passed := time.Duration(0); ended == 0 && passed < time.Hour; passed += time.Second {
				if passed == 10*time.Minute {
					answer = tc.code
				}
				if err := a.check(began.Add(passed), askEvery, func() error { return status.Error(answer, "test") }); err != nil {
					ended = passed - 10*time.Minute
				}
			}
			if ended <= 0 || ended > tc.within || tc.code == codes.Unavailable && ended < unansweredFor-askEvery {
				t.Errorf("it ended after %v", ended)
			}
		})
	}
}
