package hostile

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

const getRatio = workloadresizerv1.RatioService_GetRatio_FullMethodName

// TestHostile makes one attack after the other on the same server.
func TestHostile(t *testing.T) {
	v := newVictim(t)
	viewer := v.token(t, "viewer", "workload-resizer-viewer")
	nobody := v.token(t, "nobody", "")
	halfSent := func(authorization func(n int) string) func(*testing.T) {
		return func(t *testing.T) {
			for range 8 {
				connection := dialRaw(t, v.server.GRPCAddress)
				for n := range 250 {
					connection.open(getRatio, authorization(n), 64<<10, 63<<10)
				}
			}
		}
	}
	forged := forgedToken(t, viewer)
	for _, tc := range []struct {
		name   string
		attack func(*testing.T)
	}{
		{"requests that never end, without credentials", halfSent(func(int) string { return "" })},
		{"requests that never end, with forged tokens", halfSent(func(int) string { return "Bearer " + forged })},
		{"requests that never end, with opaque tokens", halfSent(func(n int) string { return fmt.Sprint("Bearer junk", n) })},
		{"requests that never end, of a viewer", halfSent(func(int) string { return "Bearer " + viewer })},
		{"requests that never end, of an account without rights", halfSent(func(int) string { return "Bearer " + nobody })},
		{"connections without calls", func(t *testing.T) {
			for range 3000 {
				conn, err := tls.Dial("tcp", v.server.GRPCAddress, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
				if err != nil {
					continue // It was displaced.
				}
				t.Cleanup(func() { _ = conn.Close() })
			}
		}},
		{"manifests of a viewer", func(t *testing.T) {
			c := v.dial(t, viewer)
			for _, text := range []string{aliases(), strings.Repeat(`{"apiVersion":"v1","kind":"List","items":[`, 20_000), "apiVersion: v1\nkind: Pod\nspec: {containers: [" + strings.Repeat("{name: a},", 100_000) + "]}"} {
				for range 4 {
					ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
					if _, err := c.PreviewManifest(ctx, text); err == nil || status.Code(err) == codes.DeadlineExceeded {
						t.Errorf("%.40q…: got %v, want it refused", text, err)
					}
					cancel()
				}
			}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) { v.withstands(t, tc.attack) })
	}
	t.Run("bad tokens do not keep a new caller out", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for n := range 4 {
			connection := dialRaw(t, v.server.GRPCAddress)
			go func() {
				for i := 0; ctx.Err() == nil; i++ {
					connection.open(getRatio, fmt.Sprintf("Bearer junk-%d-%d", n, i), 0, 0)
					time.Sleep(5 * time.Millisecond)
				}
			}()
		}
		time.Sleep(3 * time.Second) // Long enough to spend the budget for opaque tokens.
		newcomer := v.dial(t, v.token(t, "newcomer", "workload-resizer-viewer"))
		if _, err := newcomer.ListRatios(t.Context()); err != nil {
			t.Errorf("a new caller is refused: %v", err)
		}
	})
	t.Run("a call with a forged token learns why it is refused", func(t *testing.T) {
		c := v.dial(t, forged)
		_, err := c.ListRatios(t.Context())
		if status.Code(err) != codes.Unauthenticated || !strings.Contains(err.Error(), "(its signature is wrong): get a new one") {
			t.Errorf("got %v", err)
		}
		reason := ""
		for _, detail := range status.Convert(err).Details() {
			if info, ok := detail.(*errdetails.ErrorInfo); ok {
				reason = info.GetReason()
			}
		}
		if reason != "CREDENTIALS_INVALID" {
			t.Errorf("the reason is %q", reason)
		}
	})
}

// aliases is a YAML document of 120 KB whose aliases stand for gigabytes.
func aliases() string {
	return "apiVersion: v1\nkind: Pod\nx: &a " + strings.Repeat("y", 60<<10) + "\nz: [" + strings.Repeat("*a,", 20<<10) + "]\n"
}

// forgedToken returns a token with the key ID and the claims of another, signed with another key.
func forgedToken(t *testing.T, token string) string {
	t.Helper()
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.RS256, jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	claims := map[string]any{}
	if err := parsed.UnsafeClaimsWithoutVerification(&claims); err != nil {
		t.Fatal(err)
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: parsed.Headers[0].KeyID}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	forged, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return forged
}
