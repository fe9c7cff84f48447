package access

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"
	josejwt "github.com/go-jose/go-jose/v4/jwt"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

const (
	// keysEvery is how often the published keys are read again, and keysRetry how soon after
	// a failure or after a token that names a key which is not among them.
	keysEvery = time.Hour
	keysRetry = 10 * time.Second
	// skew is how much the clocks of the API server and of this machine may differ.
	skew = time.Minute
)

// algorithms are those that the API server may sign tokens with.
var algorithms = []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.ES256, jose.ES384, jose.ES512, jose.PS256, jose.PS384, jose.PS512, jose.EdDSA}

// Issuer checks signatures of the tokens that a cluster issues to ServiceAccounts, by the keys
// that its API server publishes. It sorts out made-up tokens without a question to the API
// server, which has the last word on all others.
type Issuer struct {
	// read asks the API server for a path.
	read      func(ctx context.Context, path string) ([]byte, error)
	published atomic.Pointer[published]
	// stale has an entry if a token names a key that was not published yet.
	stale chan struct{}
}

// published has the issuer and the keys of the tokens that an API server issues.
type published struct {
	issuer string
	keys   jose.JSONWebKeySet
}

// NewIssuer returns an Issuer that knows no keys until Run has read them.
func NewIssuer(client rest.Interface) *Issuer {
	return &Issuer{
		read: func(ctx context.Context, path string) ([]byte, error) {
			return client.Get().AbsPath(path).SetHeader("Accept", "application/json, application/jwk-set+json").DoRaw(ctx)
		},
		stale: make(chan struct{}, 1),
	}
}

// Run reads the published keys again and again until ctx is done; then it returns nil.
func (i *Issuer) Run(ctx context.Context) error {
	logger := klog.FromContext(ctx)
	for {
		wait := keysEvery
		if err := i.refresh(ctx); err != nil {
			logger.V(1).Info("Keys of the token issuer not read: tokens are checked by the API server alone", "err", err)
			wait = keysRetry
		}
		if !sleep(ctx, keysRetry) {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-i.stale:
		case <-time.After(wait - keysRetry):
		}
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

func (i *Issuer) refresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	var about struct {
		Issuer string `json:"issuer"`
	}
	var now published
	for _, document := range []struct {
		path string
		into any
	}{{"/.well-known/openid-configuration", &about}, {"/openid/v1/jwks", &now.keys}} {
		content, err := i.read(ctx, document.path)
		if err != nil {
			return fmt.Errorf("read %s from the API server: %w", document.path, err)
		}
		if err := json.Unmarshal(content, document.into); err != nil {
			return fmt.Errorf("read %s from the API server: %w", document.path, err)
		}
	}
	now.issuer = about.Issuer
	i.published.Store(&now)
	return nil
}

// canonical reports whether a token has no bits that mean nothing. Tokens are remembered by
// their text, so other spellings of one token would all have to be reviewed.
func canonical(token string) bool {
	for part := range strings.SplitSeq(token, ".") {
		if _, err := base64.RawURLEncoding.Strict().DecodeString(part); err != nil {
			return false
		}
	}
	return !strings.ContainsAny(token, "\r\n") // base64 skips line breaks.
}

// claims are the claims of a token of a ServiceAccount.
type claims struct {
	josejwt.Claims
	Kubernetes struct {
		Node struct {
			Name string `json:"name"`
		} `json:"node"`
	} `json:"kubernetes.io"`
}

// caller returns the user and the node, as the API server reports them for the token.
func (c *claims) caller() *Caller {
	caller := &Caller{Name: c.Subject, Extra: map[string][]string{}}
	if c.ID != "" {
		caller.Extra[credentialIDKey] = []string{"JTI=" + c.ID}
	}
	if node := c.Kubernetes.Node.Name; node != "" {
		caller.Extra[nodeNameKey] = []string{node}
	}
	return caller
}

// check returns the caller that the cluster signed the token for, as far as limits need it. It
// returns an error if the token is useless here, whatever the API server says about it. If it
// returns neither, the token may be from another issuer, or signed with a key that is not
// published yet.
func (i *Issuer) check(token string, audiences []string, now time.Time) (signed *Caller, err error) {
	if i == nil {
		return nil, nil
	}
	known := i.published.Load()
	if known == nil || strings.Count(token, ".") != 2 {
		return nil, nil
	}
	parsed, err := josejwt.ParseSigned(token, algorithms)
	if err != nil {
		return nil, nil
	}
	var claims claims
	if parsed.UnsafeClaimsWithoutVerification(&claims) != nil || claims.Issuer != known.issuer || len(claims.Audience) == 0 {
		return nil, nil
	}
	if !canonical(token) {
		return nil, errors.New("it is not encoded as the cluster encodes tokens")
	}
	keys := known.keys.Key(parsed.Headers[0].KeyID)
	if len(keys) == 0 {
		select {
		case i.stale <- struct{}{}:
		default:
		}
		return nil, nil
	}
	if !slices.ContainsFunc(keys, func(key jose.JSONWebKey) bool { return parsed.Claims(key) == nil }) {
		return nil, errors.New("its signature is wrong")
	}
	if claims.Expiry != nil && now.After(claims.Expiry.Time().Add(skew)) {
		return nil, fmt.Errorf("it expired at %s", claims.Expiry.Time().UTC().Format(time.RFC3339))
	}
	if !slices.ContainsFunc(claims.Audience, func(audience string) bool { return slices.Contains(audiences, audience) }) {
		return nil, errors.New("it is for another audience")
	}
	return claims.caller(), nil
}
