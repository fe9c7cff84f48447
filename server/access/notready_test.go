package access

import (
	"context"
	"errors"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
)

// The error of a failed review names the API server, which nobody else must learn.
func TestNotReady(t *testing.T) {
	const secret = "dial tcp 10.9.8.7:443: connection refused"
	a, _ := asking(&answers{
		tokens: func(context.Context, string) (authenticationv1.TokenReviewStatus, error) {
			return authenticationv1.TokenReviewStatus{}, errors.New(secret)
		},
		rights: func(context.Context, *authorizationv1.ResourceAttributes) (bool, error) {
			return false, errors.New(secret)
		},
	})
	for asked, ask := range map[string]func(context.Context) error{
		"identity": func(ctx context.Context) error {
			_, err := a.fromToken(ctx, "x")
			return err
		},
		"rights": func(ctx context.Context) error {
			return a.Require(NewContext(ctx, Caller{Name: "ann"}), EndRestores, "shop")
		},
	} {
		t.Run("keeps the cause from the caller and logs it: "+asked, func(t *testing.T) {
			logger := ktesting.NewLogger(ktesting.NopTL{}, ktesting.NewConfig(ktesting.BufferLogs(true)))
			err := ask(withToken(klog.NewContext(t.Context(), logger), ""))
			checkError(t, err, codes.Unavailable, "IDENTITY_NOT_READY")
			if strings.Contains(err.Error(), "10.9.8.7") || !strings.Contains(err.Error(), "did not report your "+asked) {
				t.Errorf("got %v", err)
			}
			if log := logger.GetSink().(ktesting.Underlier).GetBuffer().String(); !strings.Contains(log, secret) {
				t.Errorf("the log is %q", log)
			}
		})
	}
}
