package limits

import (
	"context"
	"errors"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/workload-resizer/workload-resizer/internal/fair"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

// A caller with too many requests loses its oldest one, and others none.
func TestReceiving(t *testing.T) {
	const perAccount = 4
	r := NewReceiving(100, perAccount)
	as := func(name string) context.Context { return access.NewContext(t.Context(), access.Caller{Name: name}) }
	other, leave := r.Enter(as("other"))
	var all []context.Context
	for range perAccount + 1 {
		ctx, _ := r.Enter(as("ann"))
		all = append(all, ctx)
	}
	ended := errors.New("ended")
	servertest.CheckError(t, Cause(all[0], ended), codes.ResourceExhausted, "TOO_MANY_PENDING", "gave way")
	for _, ctx := range append(all[1:], other) {
		if ctx.Err() != nil || !errors.Is(Cause(ctx, ended), ended) {
			t.Fatalf("another request was canceled: %v", context.Cause(ctx))
		}
	}
	leave()
	if n := r.requests.Held(fair.All, fair.Key{}); n != perAccount {
		t.Errorf("%d requests are counted", n)
	}
}
