package access

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/proto"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	testingclock "k8s.io/utils/clock/testing"

	pb "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// arriving is a stream with one incoming request.
type arriving struct {
	grpc.ServerStream
	ctx     context.Context
	request proto.Message
}

func (s *arriving) Context() context.Context { return s.ctx }

func (s *arriving) RecvMsg(message any) error {
	proto.Merge(message.(proto.Message), s.request)
	return nil
}

// watching authorizes a stream as the server does, and calls handler with its context.
func watching(t *testing.T, a *Access, ctx context.Context, method string, request proto.Message, handler func(context.Context)) {
	t.Helper()
	info := &grpc.StreamServerInfo{FullMethod: method}
	err := a.AuthenticateStream(nil, &arriving{ctx: ctx, request: request}, info, func(service any, s grpc.ServerStream) error {
		return a.AuthorizeStream(service, s, info, func(_ any, s grpc.ServerStream) error {
			if err := s.RecvMsg(request.ProtoReflect().New().Interface()); err != nil {
				return err
			}
			handler(s.Context())
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestStream(t *testing.T) {
	t.Run("checks again whether a stream may continue", checksAgainWhetherAStreamMayContinue)
	t.Run("does not check a context without an authorized stream", doesNotCheckAContextWithoutAnAuthorizedStream)
}

func checksAgainWhetherAStreamMayContinue(t *testing.T) {
	in := func(namespace string) func(context.Context, *authorizationv1.ResourceAttributes) (bool, error) {
		return func(_ context.Context, to *authorizationv1.ResourceAttributes) (bool, error) {
			return to.Namespace == namespace, nil
		}
	}
	type change = func(*answers, *testingclock.FakePassiveClock)
	leaf := &x509.Certificate{Subject: pkix.Name{CommonName: "ann"}, NotAfter: time.Unix(1_800_000_000, 0).Add(time.Hour)}
	certified := peer.NewContext(t.Context(), &peer.Peer{Addr: here, AuthInfo: credentials.TLSInfo{State: tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{leaf}}}}})
	for name, tc := range map[string]struct {
		ctx     context.Context
		request proto.Message
		change  change
		code    codes.Code
		reason  string
	}{
		"nothing has changed": {nil, &pb.WatchRatiosRequest{}, func(*answers, *testingclock.FakePassiveClock) {}, codes.OK, ""},
		"the right to a method is revoked": {nil, &pb.WatchRatiosRequest{}, func(a *answers, _ *testingclock.FakePassiveClock) { a.rights = deny },
			codes.PermissionDenied, "NOT_AUTHORIZED"},
		"the right in the namespace of the request remains": {nil, &pb.WatchResizesRequest{Namespace: "shop"},
			func(a *answers, _ *testingclock.FakePassiveClock) { a.rights = in("shop") }, codes.OK, ""},
		"the right in the namespace of the request is revoked": {nil, &pb.WatchResizesRequest{Namespace: "shop"},
			func(a *answers, _ *testingclock.FakePassiveClock) { a.rights = in("bank") }, codes.PermissionDenied, "NOT_AUTHORIZED"},
		"the right in all namespaces is revoked": {nil, &pb.WatchResizesRequest{}, func(a *answers, _ *testingclock.FakePassiveClock) { a.rights = in("shop") },
			codes.PermissionDenied, "NOT_AUTHORIZED"},
		"the token is no longer good": {nil, &pb.WatchRatiosRequest{}, func(a *answers, _ *testingclock.FakePassiveClock) {
			a.tokens = func(context.Context, string) (authenticationv1.TokenReviewStatus, error) {
				return authenticationv1.TokenReviewStatus{}, nil
			}
		}, codes.Unauthenticated, "CREDENTIALS_INVALID"},
		"the user is in other groups": {nil, &pb.WatchRatiosRequest{}, func(a *answers, _ *testingclock.FakePassiveClock) {
			a.tokens = func(ctx context.Context, token string) (authenticationv1.TokenReviewStatus, error) {
				answer, err := good(ctx, token)
				answer.User.Groups = []string{"a"}
				return answer, err
			}
		}, codes.Unauthenticated, "CREDENTIALS_INVALID"},
		"the API server is unavailable": {nil, &pb.WatchRatiosRequest{}, func(a *answers, _ *testingclock.FakePassiveClock) {
			a.tokens = func(context.Context, string) (authenticationv1.TokenReviewStatus, error) {
				return authenticationv1.TokenReviewStatus{}, errors.New("connection refused")
			}
		}, codes.Unavailable, "IDENTITY_NOT_READY"},
		"the certificate is good": {certified, &pb.WatchRatiosRequest{}, func(*answers, *testingclock.FakePassiveClock) {}, codes.OK, ""},
		"the certificate has expired": {certified, &pb.WatchRatiosRequest{}, func(_ *answers, c *testingclock.FakePassiveClock) { c.SetTime(leaf.NotAfter.Add(1)) },
			codes.Unauthenticated, "CREDENTIALS_INVALID"},
		"a local caller": {from(t.Context(), loopback, ""), &pb.WatchRatiosRequest{}, func(a *answers, _ *testingclock.FakePassiveClock) { a.rights = deny },
			codes.OK, ""},
	} {
		t.Run(name, func(t *testing.T) {
			asked := &answers{tokens: good, rights: allow}
			a, clock := asking(asked)
			a.config.Local = true
			ctx, method := tc.ctx, pb.RatioService_WatchRatios_FullMethodName
			if ctx == nil {
				ctx = withToken(t.Context(), "x")
			}
			if _, ok := tc.request.(*pb.WatchResizesRequest); ok {
				method = pb.ResizeService_WatchResizes_FullMethodName
			}
			watching(t, a, ctx, method, tc.request, func(ctx context.Context) {
				if err := StillAllowed(ctx); err != nil {
					t.Errorf("at first: %v", err)
				}
				clock.SetTime(clock.Now().Add(remembered + time.Second))
				tc.change(asked, clock)
				err := StillAllowed(ctx)
				if tc.code == codes.OK && err == nil {
					return
				}
				checkError(t, err, tc.code, tc.reason)
			})
		})
	}
}

func doesNotCheckAContextWithoutAnAuthorizedStream(t *testing.T) {
	if err := StillAllowed(t.Context()); err != nil {
		t.Error(err)
	}
}
