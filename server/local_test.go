package server

import (
	"context"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

func TestLocal(t *testing.T) {
	t.Run("local callers may do everything without credentials", localCallersMayDoEverythingWithoutCredentials)
}

func localCallersMayDoEverythingWithoutCredentials(t *testing.T) {
	r := start(t, setup{})
	for method, info := range serverMethods(r.server) {
		if err := call(t.Context(), r.conn, method, info.IsServerStream); refusal(err) != "" {
			t.Errorf("%s: %v", method, err)
		}
	}
}

func TestCredentialsInPlaintext(t *testing.T) {
	// The API server never answers.
	nowhere := kubernetes.NewForConfigOrDie(&rest.Config{Host: "https://127.0.0.1:1"})
	asking := func(local bool) func(*Config) {
		return func(c *Config) {
			c.Access = access.New(access.Config{
				Tokens: nowhere.AuthenticationV1().TokenReviews(), Rights: nowhere.AuthorizationV1().SubjectAccessReviews(),
				Audiences: []string{audience}, Local: local,
			})
		}
	}
	here, anywhere, alone := start(t, setup{server: asking(true)}), start(t, setup{server: asking(false)}), start(t, setup{})
	for _, tc := range []struct {
		name            string
		server          *running
		credentials     []string
		code            codes.Code
		reason, message string
	}{
		{"local callers need no credentials", here, nil, codes.OK, "", ""},
		{"credentials of local callers are checked", here, []string{"Bearer x"}, codes.Unavailable, "IDENTITY_NOT_READY", "the API server did not report your identity; the server's log has the cause; try again later"},
		{"malformed credentials are refused", here, []string{"Basic eDp5"}, codes.Unauthenticated, "CREDENTIALS_INVALID", `"Bearer TOKEN"`},
		{"an empty token is refused", here, []string{"Bearer "}, codes.Unauthenticated, "CREDENTIALS_INVALID", `"Bearer TOKEN"`},
		{"two tokens are refused", here, []string{"Bearer x", "Bearer y"}, codes.Unauthenticated, "CREDENTIALS_INVALID", "must be set once"},
		{"callers of other machines need credentials", anywhere, nil, codes.Unauthenticated, "CREDENTIALS_MISSING", "authorization: Bearer TOKEN"},
		{"credentials of other callers are checked", anywhere, []string{"bearer x"}, codes.Unavailable, "IDENTITY_NOT_READY", "did not report your identity"},
		{"a server without TokenReviews refuses credentials", alone, []string{"Bearer x"}, codes.Unauthenticated, "CREDENTIALS_INVALID", "call it without credentials"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx := t.Context()
			for _, given := range tc.credentials {
				ctx = metadata.AppendToOutgoingContext(ctx, "authorization", given)
			}
			err := call(ctx, tc.server.conn, workloadresizerv1.RatioService_ListRatios_FullMethodName, false)
			if tc.code == codes.OK {
				if err != nil {
					t.Error(err)
				}
				return
			}
			servertest.CheckError(t, err, tc.code, tc.reason, tc.message)
		})
	}
	t.Run("health needs no credentials", func(t *testing.T) {
		for _, ctx := range []context.Context{t.Context(), bearing(t.Context(), "x")} {
			if err := call(ctx, anywhere.conn, "/grpc.health.v1.Health/Check", false); err != nil {
				t.Error(err)
			}
		}
	})
}
