package access

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
)

func TestAccess(t *testing.T) {
	t.Run("denies a method that is not in the table", deniesAMethodThatIsNotInTheTable)
	t.Run("denies everything to a caller that was never identified", deniesEverythingToACallerThatWasNeverIdentified)
	t.Run("treats only callers on this machine as local", treatsOnlyCallersOnThisMachineAsLocal)
	t.Run("the author is the caller unless the caller is local", theAuthorIsTheCallerUnlessTheCallerIsLocal)
	t.Run("different callers share no rights", differentCallersShareNoRights)
	t.Run("calls with the same question share one answer", callsWithTheSameQuestionShareOneAnswer)
	t.Run("a canceled call does not cancel the others", aCanceledCallDoesNotCancelTheOthers)
	t.Run("waits five seconds for the API server", waitsFiveSecondsForTheAPIServer)
	t.Run("a panic reaches every call that waits", aPanicReachesEveryCallThatWaits)
}

func deniesAMethodThatIsNotInTheTable(t *testing.T) {
	a := New(Config{Local: true})
	ctx := NewContext(t.Context(), Caller{Local: true})
	_, err := a.AuthorizeUnary(ctx, nil, &grpc.UnaryServerInfo{FullMethod: "/a.B/C"}, func(context.Context, any) (any, error) {
		t.Error("a denied call was handled")
		return nil, nil
	})
	checkError(t, err, codes.PermissionDenied, "METHOD_NOT_AUTHORIZED")
	err = a.AuthorizeStream(nil, &knownStream{ctx: ctx}, &grpc.StreamServerInfo{FullMethod: "/a.B/D"}, func(any, grpc.ServerStream) error {
		t.Error("a denied call was handled")
		return nil
	})
	checkError(t, err, codes.PermissionDenied, "METHOD_NOT_AUTHORIZED")
}

func deniesEverythingToACallerThatWasNeverIdentified(t *testing.T) {
	a, _ := asking(&answers{rights: allow})
	for method, m := range methods {
		if m.Exempt {
			continue
		}
		if len(m.Rights) == 0 {
			t.Errorf("%s needs no right", method)
		}
		m.only = nil // It depends on a request, and there is none here.
		checkError(t, a.authorize(t.Context(), &m, nil), codes.PermissionDenied, "NOT_AUTHORIZED")
	}
}

func treatsOnlyCallersOnThisMachineAsLocal(t *testing.T) {
	encrypted := credentials.TLSInfo{}
	for name, tc := range map[string]struct {
		from  *peer.Peer
		local bool
		want  bool
	}{
		"loopback":                  {&peer.Peer{Addr: loopback}, true, true},
		"IPv6 loopback":             {&peer.Peer{Addr: &net.TCPAddr{IP: net.IPv6loopback}}, true, true},
		"inside the process":        {&peer.Peer{Addr: &net.UnixAddr{Name: "@"}}, true, true},
		"another machine":           {&peer.Peer{Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1)}}, true, false},
		"over TLS":                  {&peer.Peer{Addr: loopback, AuthInfo: encrypted}, true, false},
		"a server for all machines": {&peer.Peer{Addr: loopback}, false, false},
		"a call without an origin":  {nil, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			if tc.from != nil {
				ctx = peer.NewContext(ctx, tc.from)
			}
			id, err := New(Config{Local: tc.local}).authenticate(ctx)
			if !tc.want {
				checkError(t, err, codes.Unauthenticated, "CREDENTIALS_MISSING")
			} else if err != nil || !id.Local {
				t.Errorf("got %v, %v", id, err)
			}
		})
	}
}

func theAuthorIsTheCallerUnlessTheCallerIsLocal(t *testing.T) {
	for _, tc := range []struct {
		name       string
		caller     Caller
		said, want string
		refused    bool
	}{
		{"a known caller", Caller{Name: "ann"}, "", "ann", false},
		{"a known caller that names an author", Caller{Name: "ann"}, "bob", "", true},
		{"a known caller that names itself", Caller{Name: "ann"}, "ann", "", true},
		{"a local caller", Caller{Local: true}, "", "", false},
		{"a local caller that names an author", Caller{Local: true}, "bob", "bob", false},
		{"a caller that was never identified", Caller{}, "", "", false},
		{"a caller that was never identified and names an author", Caller{}, "bob", "", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := Author(NewContext(t.Context(), tc.caller), tc.said)
			if tc.refused {
				checkError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT")
			} else if err != nil || got != tc.want {
				t.Errorf("got %q, %v; want %q", got, err, tc.want)
			}
		})
	}
}

func differentCallersShareNoRights(t *testing.T) {
	seen := map[[32]byte]Caller{}
	for _, c := range []Caller{
		{Name: "a"}, {Name: "b"}, {UID: "a"}, {Name: "a", Groups: []string{"b"}}, {Name: "a", Groups: []string{"b", "c"}}, {Name: "a", Groups: []string{`b" "c`}},
		{Name: "a\xff"}, {Name: "a\xfe"}, {Name: "a", Extra: map[string][]string{"b": {"c"}}}, {Name: "a", Extra: map[string][]string{"b": {"c", ""}}},
	} {
		hash := newIdentity(c).hash
		if other, ok := seen[hash]; ok {
			t.Errorf("%+v and %+v have the same hash", other, c)
		}
		seen[hash] = c
	}
}

func callsWithTheSameQuestionShareOneAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls = 50
		release := make(chan struct{})
		asked := &answers{
			tokens: func(ctx context.Context, token string) (authenticationv1.TokenReviewStatus, error) {
				<-release
				return good(ctx, token)
			},
			rights: func(context.Context, *authorizationv1.ResourceAttributes) (bool, error) { <-release; return true, nil },
		}
		a, _ := asking(asked)
		errs := make(chan error, calls)
		for range calls {
			go func() {
				id, err := a.authenticate(withToken(t.Context(), "x"))
				if err == nil {
					err = a.require(t.Context(), id, Right{"list", "plans"}, "")
				}
				errs <- err
			}()
		}
		for range 2 { // The token review, then the access review.
			synctest.Wait()
			release <- struct{}{}
		}
		for range calls {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		if tokens, rights := asked.tokensAsked.Load(), asked.rightsAsked.Load(); tokens != 1 || rights != 1 {
			t.Errorf("%d token reviews and %d access reviews, want 1 of each", tokens, rights)
		}
	})
}

func aCanceledCallDoesNotCancelTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		a, _ := asking(&answers{tokens: func(ctx context.Context, token string) (authenticationv1.TokenReviewStatus, error) {
			select {
			case <-release:
				return good(ctx, token)
			case <-ctx.Done():
				return authenticationv1.TokenReviewStatus{}, ctx.Err()
			}
		}})
		first, giveUp := context.WithCancel(t.Context())
		errs := make(chan error, 2)
		for _, ctx := range []context.Context{first, t.Context()} {
			go func() {
				_, err := a.authenticate(withToken(ctx, "x"))
				errs <- err
			}()
			synctest.Wait()
		}
		giveUp()
		if err := <-errs; !errors.Is(context.Cause(first), context.Canceled) || err == nil {
			t.Errorf("the canceled call returned %v", err)
		}
		close(release)
		if err := <-errs; err != nil {
			t.Errorf("the other call returned %v", err)
		}
	})
}

func waitsFiveSecondsForTheAPIServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := asking(&answers{
			tokens: func(ctx context.Context, _ string) (authenticationv1.TokenReviewStatus, error) {
				<-ctx.Done()
				return authenticationv1.TokenReviewStatus{}, ctx.Err()
			},
			rights: func(ctx context.Context, _ *authorizationv1.ResourceAttributes) (bool, error) {
				<-ctx.Done()
				return false, ctx.Err()
			},
		})
		begin := time.Now()
		_, err := a.authenticate(withToken(t.Context(), "x"))
		checkError(t, err, codes.Unavailable, "IDENTITY_NOT_READY")
		err = a.require(t.Context(), newIdentity(Caller{Name: "ann"}), Right{"list", "plans"}, "")
		checkError(t, err, codes.Unavailable, "IDENTITY_NOT_READY")
		if took := time.Since(begin); took != 10*time.Second {
			t.Errorf("both took %v", took)
		}
	})
}

func aPanicReachesEveryCallThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		a, _ := asking(&answers{tokens: func(context.Context, string) (authenticationv1.TokenReviewStatus, error) {
			<-release
			panic("a bug")
		}})
		const calls = 3
		causes := make(chan any, calls)
		for range calls {
			go func() {
				defer func() { causes <- recover() }()
				_, _ = a.authenticate(withToken(t.Context(), "x"))
			}()
		}
		synctest.Wait()
		close(release)
		for range calls {
			if got := fmt.Sprint(<-causes); !strings.HasPrefix(got, "a bug") || !strings.Contains(got, "tokenReviews.Create") {
				t.Errorf("the call panicked with %s, want the cause and its stack", got)
			}
		}
	})
}
