package client

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

// bearer sends a token with every call.
type bearer struct {
	token TokenFunc
	// plaintext allows a connection without encryption, which must not leave this
	// machine.
	plaintext bool
}

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (b bearer) GetRequestMetadata(ctx context.Context, _ ...string) (map[string]string, error) {
	token, err := b.token(ctx)
	if err != nil {
		// gRPC replaces the message of an error that is not a status.
		return nil, status.Errorf(codes.Unauthenticated, "get a token for the server: %v", err)
	}
	if token == "" {
		return nil, nil
	}
	return map[string]string{"authorization": "Bearer " + token}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials.
func (b bearer) RequireTransportSecurity() bool { return !b.plaintext }

func tokenOf(path string) TokenFunc {
	return func(context.Context) (string, error) {
		content, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		token := string(bytes.TrimSpace(content))
		if token == "" {
			return "", fmt.Errorf("%s is empty", path)
		}
		return token, nil
	}
}

// accountTokenLife is the requested lifetime of a token. The API server issues none for
// less than ten minutes.
const accountTokenLife = 15 * time.Minute

// accountToken is the token of a ServiceAccount. It is renewed after four fifths of its
// lifetime.
type accountToken struct {
	// request returns a token and its expiry time.
	request func(context.Context) (string, time.Time, error)

	mu      sync.Mutex
	token   string
	renewAt time.Time
}

func newAccountToken(core corev1client.ServiceAccountsGetter, account types.NamespacedName, audience string) *accountToken {
	seconds := int64(accountTokenLife / time.Second)
	return &accountToken{request: func(ctx context.Context) (string, time.Time, error) {
		answer, err := core.ServiceAccounts(account.Namespace).CreateToken(ctx, account.Name, &authenticationv1.TokenRequest{
			Spec: authenticationv1.TokenRequestSpec{Audiences: []string{audience}, ExpirationSeconds: &seconds},
		}, metav1.CreateOptions{})
		switch {
		case apierrors.IsForbidden(err):
			return "", time.Time{}, fmt.Errorf("request a token for ServiceAccount %s: you need the right to create serviceaccounts/token for it: %w", account, err)
		case err != nil:
			return "", time.Time{}, fmt.Errorf("request a token for ServiceAccount %s: %w", account, err)
		}
		return answer.Status.Token, answer.Status.ExpirationTimestamp.Time, nil
	}}
}

func (a *accountToken) get(ctx context.Context) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	if now.Before(a.renewAt) {
		return a.token, nil
	}
	token, expiry, err := a.request(ctx)
	if err != nil {
		return "", err
	}
	a.token, a.renewAt = token, now.Add(expiry.Sub(now)*4/5)
	return token, nil
}

// guarded returns token with a check that the server is among the token's audiences.
// Without it, an attacker who controls the Service and the ConfigMap with the certificate
// authority could pose as the server and receive a token that the API server accepts. A
// token that does not name its audiences is sent only if WithTokenAudience is given.
func (o *clusterOptions) guarded(token TokenFunc) TokenFunc {
	return func(ctx context.Context) (string, error) {
		t, err := token(ctx)
		if err != nil || t == "" {
			return "", err
		}
		audiences, tells := audiencesOf(t)
		if slices.Contains(audiences, o.audience) || !tells && o.audienceGiven {
			return t, nil
		}
		return "", fmt.Errorf("the kubeconfig user's token does not state that it is for the audience %q, so it is not sent", o.audience)
	}
}

// audiencesOf returns the audiences that a JSON Web Token names, and reports whether the
// token is one. It does not verify the token, because nothing here has to trust it.
func audiencesOf(token string) (audiences []string, tells bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, false
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return nil, false
	}
	var claims struct {
		Audience json.RawMessage `json:"aud"`
	}
	if json.Unmarshal(payload, &claims) != nil {
		return nil, false
	}
	var one string
	if json.Unmarshal(claims.Audience, &one) == nil && one != "" {
		return []string{one}, true
	}
	// A token without a valid audience is for no server.
	if json.Unmarshal(claims.Audience, &audiences) != nil {
		return nil, true
	}
	return audiences, true
}
