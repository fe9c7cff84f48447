package access

import (
	"context"
	"testing"

	"google.golang.org/grpc/codes"
	authorizationv1 "k8s.io/api/authorization/v1"
)

func TestAuthorize(t *testing.T) {
	t.Run("what only a service knows to need is asked as the rest is", whatOnlyAServiceKnowsToNeedIsAskedAsTheRestIs)
}

func whatOnlyAServiceKnowsToNeedIsAskedAsTheRestIs(t *testing.T) {
	for _, tc := range []struct {
		name    string
		caller  Caller
		allowed bool
		code    codes.Code
		reason  string
	}{
		{"a caller who may", Caller{Name: "ann"}, true, codes.OK, ""},
		{"a caller who may not", Caller{Name: "ann"}, false, codes.PermissionDenied, "NOT_AUTHORIZED"},
		{"a caller of this machine may", Caller{Local: true}, false, codes.OK, ""},
		{"nobody may not", Caller{}, true, codes.PermissionDenied, "NOT_AUTHORIZED"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, _ := asking(&answers{rights: func(context.Context, *authorizationv1.ResourceAttributes) (bool, error) { return tc.allowed, nil }})
			checkError(t, a.Require(NewContext(t.Context(), tc.caller), EndRestores, "shop"), tc.code, tc.reason)
		})
	}
}
