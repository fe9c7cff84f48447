package access

import (
	"context"
	"testing"

	"google.golang.org/grpc/codes"
	authorizationv1 "k8s.io/api/authorization/v1"
)

func TestAuthorize(t *testing.T) {
	t.Run("checks rights for services as for methods", checksRightsForServicesAsForMethods)
}

func checksRightsForServicesAsForMethods(t *testing.T) {
	for _, tc := range []struct {
		name    string
		caller  Caller
		allowed bool
		code    codes.Code
		reason  string
	}{
		{"a caller with the right", Caller{Name: "ann"}, true, codes.OK, ""},
		{"a caller without the right", Caller{Name: "ann"}, false, codes.PermissionDenied, "NOT_AUTHORIZED"},
		{"a local caller", Caller{Local: true}, false, codes.OK, ""},
		{"an unknown caller", Caller{}, true, codes.PermissionDenied, "NOT_AUTHORIZED"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, _ := asking(&answers{rights: func(context.Context, *authorizationv1.ResourceAttributes) (bool, error) { return tc.allowed, nil }})
			checkError(t, a.Require(NewContext(t.Context(), tc.caller), EndRestores, "shop"), tc.code, tc.reason)
		})
	}
}
