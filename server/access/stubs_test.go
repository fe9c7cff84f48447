package access

import (
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"
)

// answers stands for an API server that is slow, fails, or must not be asked. The decisions
// of a real API server are tested in package server.
type answers struct {
	tokens func(ctx context.Context, token string) (authenticationv1.TokenReviewStatus, error)
	rights func(ctx context.Context, to *authorizationv1.ResourceAttributes) (bool, error)
	// The number of reviews.
	tokensAsked, rightsAsked atomic.Int64
}

type tokenReviews struct{ *answers }

func (a tokenReviews) Create(ctx context.Context, review *authenticationv1.TokenReview, _ metav1.CreateOptions) (*authenticationv1.TokenReview, error) {
	a.tokensAsked.Add(1)
	answer, err := a.tokens(ctx, review.Spec.Token)
	return &authenticationv1.TokenReview{Status: answer}, err
}

type rightReviews struct{ *answers }

func (a rightReviews) Create(ctx context.Context, review *authorizationv1.SubjectAccessReview, _ metav1.CreateOptions) (*authorizationv1.SubjectAccessReview, error) {
	a.rightsAsked.Add(1)
	allowed, err := a.rights(ctx, review.Spec.ResourceAttributes)
	return &authorizationv1.SubjectAccessReview{Status: authorizationv1.SubjectAccessReviewStatus{Allowed: allowed}}, err
}

// good is the review of a token of ann.
func good(context.Context, string) (authenticationv1.TokenReviewStatus, error) {
	return authenticationv1.TokenReviewStatus{Authenticated: true, Audiences: []string{"ours"}, User: authenticationv1.UserInfo{Username: "ann", Groups: []string{"a", "b"}}}, nil
}

func allow(context.Context, *authorizationv1.ResourceAttributes) (bool, error) { return true, nil }

func deny(context.Context, *authorizationv1.ResourceAttributes) (bool, error) { return false, nil }

// asking returns an Access that sends reviews to a, and a fake clock.
func asking(a *answers) (*Access, *testingclock.FakePassiveClock) {
	clock := testingclock.NewFakePassiveClock(time.Unix(1_800_000_000, 0))
	return New(Config{Tokens: tokenReviews{a}, Rights: rightReviews{a}, Audiences: []string{"ours"}, Clock: clock}), clock
}

// from returns the context of a call from an address, with a token if it is not empty.
func from(ctx context.Context, address net.Addr, token string) context.Context {
	ctx = peer.NewContext(ctx, &peer.Peer{Addr: address})
	if token == "" {
		return ctx
	}
	return metadata.NewIncomingContext(ctx, metadata.Pairs("authorization", "Bearer "+token))
}

var loopback = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}

func withToken(ctx context.Context, token string) context.Context { return from(ctx, loopback, token) }

// jwt returns a token with an expiry time and without a valid signature.
func jwt(expiry time.Time) string {
	return "e30." + base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"exp":%d}`, expiry.Unix())) + ".sig"
}

func checkError(t *testing.T, err error, code codes.Code, reason string) {
	t.Helper()
	got := ""
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			got = info.GetReason()
		}
	}
	if status.Code(err) != code || got != reason {
		t.Errorf("%v with reason %q, want %s %s", err, got, code, reason)
	}
}
