package access

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	josejwt "github.com/go-jose/go-jose/v4/jwt"
	"google.golang.org/grpc/codes"
)

const issuerName = "https://kubernetes.default.svc"

// signer issues tokens with one key.
type signer struct {
	id  string
	key *ecdsa.PrivateKey
}

func newSigner(t testing.TB, id string) *signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &signer{id, key}
}

// token returns a token of ann; an empty audience means none.
func (s *signer) token(t testing.TB, issuer, audience string, expiry time.Time) string {
	t.Helper()
	claims := josejwt.Claims{Issuer: issuer, Expiry: josejwt.NewNumericDate(expiry), Subject: "ann"}
	if audience != "" {
		claims.Audience = josejwt.Audience{audience}
	}
	return s.sign(t, claims)
}

// tokenOf returns a good token of a user.
func (s *signer) tokenOf(t testing.TB, user string, expiry time.Time) string {
	t.Helper()
	return s.sign(t, josejwt.Claims{Issuer: issuerName, Audience: josejwt.Audience{"ours"}, Expiry: josejwt.NewNumericDate(expiry), Subject: user})
}

// sign returns a token with these claims.
func (s *signer) sign(t testing.TB, claims any) string {
	t.Helper()
	signing, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: s.key, KeyID: s.id}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := josejwt.Signed(signing).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// publishing returns an Issuer that has read the keys of the signers.
func publishing(t testing.TB, signers ...*signer) *Issuer {
	t.Helper()
	var keys jose.JSONWebKeySet
	for _, s := range signers {
		keys.Keys = append(keys.Keys, jose.JSONWebKey{Key: s.key.Public(), KeyID: s.id, Algorithm: string(jose.ES256), Use: "sig"})
	}
	i := &Issuer{stale: make(chan struct{}, 1), read: func(_ context.Context, path string) ([]byte, error) {
		switch path {
		case "/.well-known/openid-configuration":
			return fmt.Appendf(nil, `{"issuer":%q}`, issuerName), nil
		case "/openid/v1/jwks":
			return json.Marshal(keys)
		}
		return nil, errors.New("no such path")
	}}
	if err := i.refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	return i
}

func TestIssuer(t *testing.T) {
	t.Run("checks tokens by the published keys", checksTokensByThePublishedKeys)
	t.Run("made-up tokens are not reviewed", madeUpTokensAreNotReviewed)
	t.Run("a flood of made-up tokens does not delay signed ones", aFloodOfMadeUpTokensDoesNotDelaySignedOnes)
	t.Run("many tokens of one account do not delay others", manyTokensOfOneAccountDoNotDelayOthers)
	t.Run("without keys, every token is reviewed", withoutKeysEveryTokenIsReviewed)
}

func checksTokensByThePublishedKeys(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	ours, unpublished := newSigner(t, "a"), newSigner(t, "b")
	forger := &signer{"a", newSigner(t, "").key}
	second := &signer{"a", newSigner(t, "").key}
	i := publishing(t, ours, second)
	hour := now.Add(time.Hour)
	for _, tc := range []struct {
		name, token string
		signed      bool
		problem     string
	}{
		{"a good one", ours.token(t, issuerName, "ours", hour), true, ""},
		{"a forged one", forger.token(t, issuerName, "ours", hour), false, "its signature is wrong"},
		{"a changed one", ours.token(t, issuerName, "ours", hour) + "A", false, "its signature is wrong"},
		{"a good one with a line break", ours.token(t, issuerName, "ours", hour) + "\n", false, "it is not encoded as the cluster encodes tokens"},
		{"another spelling of a good one", respelled(ours.token(t, issuerName, "ours", hour)), false, "it is not encoded as the cluster encodes tokens"},
		{"an expired one", ours.token(t, issuerName, "ours", now.Add(-2*time.Minute)), false, "it expired at 2027-01-15T07:58:00Z"},
		{"a token that only a clock that is ahead would treat as expired", ours.token(t, issuerName, "ours", now.Add(-50*time.Second)), true, ""},
		{"one for another audience", ours.token(t, issuerName, "theirs", hour), false, "it is for another audience"},
		{"one that names no audience", ours.token(t, issuerName, "", hour), false, ""},
		{"one signed with the second key of an ID", second.token(t, issuerName, "ours", hour), true, ""},
		{"one of another issuer", ours.token(t, "https://example.com", "ours", hour), false, ""},
		{"one signed with a key that is not published", unpublished.token(t, issuerName, "ours", hour), false, ""},
		{"no JWT", "opaque", false, ""},
		{"an unsigned one", jwt(hour), false, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			user, err := i.check(tc.token, []string{"ours", "also ours"}, now)
			if (user != nil && user.Key() == "ann") != tc.signed || (err == nil) != (tc.problem == "") || err != nil && err.Error() != tc.problem {
				t.Errorf("got %v, %v; want %v, %q", user, err, tc.signed, tc.problem)
			}
		})
	}
	if len(i.stale) != 1 {
		t.Error("the keys are not read again although one is unknown")
	}
}

// respelled returns a token with the same bytes and another text.
func respelled(token string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := len(token) - 1
	return token[:last] + string(alphabet[strings.IndexByte(alphabet, token[last])^1])
}

func madeUpTokensAreNotReviewed(t *testing.T) {
	api := &answers{tokens: good}
	a, clock := asking(api)
	ours := newSigner(t, "a")
	a.config.Issuer = publishing(t, ours)
	forger := &signer{"a", newSigner(t, "").key}
	_, err := a.authenticate(withToken(t.Context(), forger.token(t, issuerName, "ours", clock.Now().Add(time.Hour))))
	checkError(t, err, codes.Unauthenticated, "CREDENTIALS_INVALID")
	if err != nil && !strings.Contains(err.Error(), "its signature is wrong") {
		t.Error(err)
	}
	if n := api.tokensAsked.Load(); n != 0 {
		t.Errorf("%d tokens were reviewed", n)
	}
	if _, err := a.authenticate(withToken(t.Context(), ours.token(t, issuerName, "ours", clock.Now().Add(time.Hour)))); err != nil {
		t.Error(err)
	}
}

// All of them come through one proxy.
func aFloodOfMadeUpTokensDoesNotDelaySignedOnes(t *testing.T) {
	a, clock := asking(&answers{tokens: good})
	ours := newSigner(t, "a")
	a.config.Issuer = publishing(t, ours)
	for n := range 1000 {
		_, _ = a.authenticate(withToken(t.Context(), fmt.Sprint("junk", n)))
	}
	if _, err := a.authenticate(withToken(t.Context(), "other junk")); err == nil {
		t.Fatal("a flood is not limited")
	}
	for n := range 100 {
		if _, err := a.authenticate(withToken(t.Context(), ours.tokenOf(t, fmt.Sprint("caller ", n), clock.Now().Add(time.Hour)))); err != nil {
			t.Fatal(err)
		}
	}
}

// All of them come through one proxy.
func manyTokensOfOneAccountDoNotDelayOthers(t *testing.T) {
	api := &answers{tokens: good}
	a, clock := asking(api)
	ours := newSigner(t, "a")
	a.config.Issuer = publishing(t, ours)
	for n := range 1000 {
		_, err := a.authenticate(withToken(t.Context(), ours.tokenOf(t, "mallory", clock.Now().Add(time.Hour+time.Duration(n)*time.Second))))
		if n >= ofAccount.Most {
			checkError(t, err, codes.ResourceExhausted, "RATE_LIMITED")
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if n := int(api.tokensAsked.Load()); n != ofAccount.Most {
		t.Errorf("%d tokens were reviewed", n)
	}
	if _, err := a.authenticate(withToken(t.Context(), ours.tokenOf(t, "ann", clock.Now().Add(time.Hour)))); err != nil {
		t.Error(err)
	}
}

func withoutKeysEveryTokenIsReviewed(t *testing.T) {
	api := &answers{tokens: good}
	a, clock := asking(api)
	a.config.Issuer = &Issuer{stale: make(chan struct{}, 1)}
	if _, err := a.authenticate(withToken(t.Context(), newSigner(t, "a").token(t, issuerName, "theirs", clock.Now()))); err != nil {
		t.Error(err)
	}
	if n := api.tokensAsked.Load(); n != 1 {
		t.Errorf("%d tokens were reviewed", n)
	}
}
