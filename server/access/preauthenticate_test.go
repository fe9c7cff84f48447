package access

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/workload-resizer/workload-resizer/internal/fair"
	pb "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// A call is judged by its headers, without a question to the API server.
func TestPreAuthenticate(t *testing.T) {
	api := &answers{tokens: good}
	a, clock := asking(api)
	ours := newSigner(t, "a")
	a.config.Issuer = publishing(t, ours)
	token := ours.token(t, issuerName, "ours", clock.Now().Add(time.Hour))
	const method = pb.RatioService_GetRatio_FullMethodName
	try := func(token string) (string, error) {
		_, who, err := a.PreAuthenticate(withToken(t.Context(), token), method)
		return who.Account, err
	}

	t.Run("refuses calls without credentials", func(t *testing.T) {
		_, err := try("")
		checkError(t, err, codes.Unauthenticated, "CREDENTIALS_MISSING")
	})
	t.Run("refuses made-up tokens", func(t *testing.T) {
		forger := &signer{"a", newSigner(t, "").key}
		_, err := try(forger.token(t, issuerName, "ours", clock.Now().Add(time.Hour)))
		checkError(t, err, codes.Unauthenticated, "CREDENTIALS_INVALID")
	})
	t.Run("lets methods through that need no credentials", func(t *testing.T) {
		if _, known, err := a.PreAuthenticate(withToken(t.Context(), ""), healthv1.Health_Check_FullMethodName); known != (fair.Key{}) || err != nil {
			t.Errorf("got %v, %v", known, err)
		}
	})
	t.Run("refuses large metadata where no credentials are needed", func(t *testing.T) {
		ctx := metadata.NewIncomingContext(withToken(t.Context(), ""), metadata.Pairs("x", strings.Repeat("y", mostExemptMetadata)))
		_, _, err := a.PreAuthenticate(ctx, healthv1.Health_Watch_FullMethodName)
		checkError(t, err, codes.Unauthenticated, "CREDENTIALS_INVALID")
	})
	t.Run("lets opaque tokens through as anonymous", func(t *testing.T) {
		if known, err := try("opaque"); known != "" || err != nil {
			t.Errorf("got %v, %v", known, err)
		}
	})
	t.Run("knows tokens that the cluster has signed", func(t *testing.T) {
		if known, err := try(token); known != "ann" || err != nil {
			t.Errorf("got %v, %v", known, err)
		}
	})
	t.Run("knows the node of a node agent", func(t *testing.T) {
		agent := ours.sign(t, map[string]any{"iss": issuerName, "aud": []string{"ours"}, "sub": "agent", "exp": clock.Now().Add(time.Hour).Unix(), "kubernetes.io": map[string]any{"node": map[string]any{"name": "a"}}})
		if known, err := try(agent); known != "agent on a" || err != nil {
			t.Errorf("got %v, %v", known, err)
		}
	})
	if n := api.tokensAsked.Load(); n != 0 {
		t.Fatalf("%d tokens were reviewed", n)
	}
	t.Run("knows a token that was reviewed", func(t *testing.T) {
		if _, err := a.authenticate(withToken(t.Context(), "opaque")); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if known, err := try("opaque"); known != "ann" || err != nil {
				t.Errorf("got %v, %v", known, err)
			}
			clock.SetTime(clock.Now().Add(remembered + time.Second)) // It is proven still.
		}
	})
	t.Run("knows certificates as the authentication does", func(t *testing.T) {
		leaf := &x509.Certificate{Raw: []byte("carol"), Subject: pkix.Name{CommonName: "carol"}, NotAfter: clock.Now().Add(time.Hour)}
		ctx := peer.NewContext(t.Context(), &peer.Peer{Addr: loopback, AuthInfo: credentials.TLSInfo{State: tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{leaf}}}}})
		_, first, err := a.PreAuthenticate(ctx, method)
		if err != nil {
			t.Fatal(err)
		}
		id, err := a.authenticate(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, again, err := a.PreAuthenticate(ctx, method); err != nil || first != again || first != id.Who() || first.Credential == "" {
			t.Errorf("at first %v, then %v, %v; authenticated as %v", first, again, err, id.Who())
		}
	})
	t.Run("refuses certificates that the authentication would refuse", func(t *testing.T) {
		for want, leaf := range map[string]*x509.Certificate{
			"expired on":     {Raw: []byte("dan"), Subject: pkix.Name{CommonName: "dan"}, NotAfter: clock.Now().Add(-time.Hour)},
			"no common name": {Raw: []byte("eve"), NotAfter: clock.Now().Add(time.Hour)},
		} {
			ctx := peer.NewContext(t.Context(), &peer.Peer{Addr: loopback, AuthInfo: credentials.TLSInfo{State: tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{leaf}}}}})
			if _, known, err := a.PreAuthenticate(ctx, method); known != (fair.Key{}) || err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, %v; want %q", known, err, want)
			}
		}
	})
	t.Run("knows programs of this machine where no one else can call", func(t *testing.T) {
		local := New(Config{Local: true})
		if _, known, err := local.PreAuthenticate(withToken(t.Context(), ""), method); known.Account != "(local)" || err != nil {
			t.Errorf("got %v, %v", known, err)
		}
	})
}
