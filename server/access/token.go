package access

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
)

// errNoCluster is why a standalone server refuses credentials.
var errNoCluster = errors.New("this server has no cluster to verify callers with")

// verdict is the result of reviewing a token: its owner, or why it is refused.
type verdict struct {
	id  *identity
	err error
}

// fromToken returns the identity of a token. Only the hash of the token is kept.
func (a *Access) fromToken(ctx context.Context, token string) (*identity, error) {
	if a.config.Tokens == nil {
		return nil, invalid(errNoCluster.Error() + ": call it without credentials")
	}
	hash := hashFor(ctx, token)
	if v, ok := a.identities.Get(hash); ok {
		return v.(verdict).id, v.(verdict).err
	}
	v, err := a.review(ctx, "token "+string(hash[:]), func(ctx context.Context) (any, error) {
		reviews := a.config.Renewals
		if _, ok := a.proven.Get(hash); !ok {
			signed, err := a.config.Issuer.check(token, a.config.Audiences, a.config.Clock.Now())
			if err != nil {
				return nil, a.badToken(err.Error())
			}
			if err := a.admit(networkOf(ctx), signed); err != nil {
				return nil, err
			}
			reviews = a.config.Tokens
		}
		v, err := a.reviewToken(ctx, reviews, token)
		if err != nil {
			return nil, err
		}
		life := refusedFor
		if v.id != nil {
			life = min(remembered, max(refusedFor, a.lifeOf(token)))
			a.proven.Add(hash, v.id.who, provenFor)
		} else {
			a.proven.Remove(hash)
		}
		a.identities.Add(hash, v, life)
		return v, nil
	})
	if err != nil {
		return nil, err
	}
	return v.(verdict).id, v.(verdict).err
}

// reviewToken asks the API server about a token. It returns an error if the API server does
// not answer.
func (a *Access) reviewToken(ctx context.Context, reviews authenticationclient.TokenReviewInterface, token string) (verdict, error) {
	question := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: a.config.Audiences}}
	review, err := reviews.Create(ctx, question, metav1.CreateOptions{})
	if err != nil {
		return verdict{}, notReady(ctx, "identity", err)
	}
	status := review.Status
	// Without audiences in the answer, the token is only for the API server.
	meant := slices.ContainsFunc(status.Audiences, func(audience string) bool { return slices.Contains(a.config.Audiences, audience) })
	if !status.Authenticated || !meant || status.User.Username == "" {
		return verdict{err: a.badToken(status.Error)}, nil
	}
	caller := Caller{Name: status.User.Username, UID: status.User.UID, Groups: status.User.Groups}
	if len(status.User.Extra) > 0 {
		caller.Extra = map[string][]string{}
		for key, values := range status.User.Extra {
			caller.Extra[key] = values
		}
	}
	return verdict{id: newIdentity(caller)}, nil
}

// hashOf returns the hash that a token is cached by.
func hashOf(token string) [sha256.Size]byte {
	var buffer [2048]byte // Most tokens fit, so that nothing is allocated.
	return sha256.Sum256(append(buffer[:0], token...))
}

// hashFor returns the hash of the token of a call, which PreAuthenticate may have computed.
func hashFor(ctx context.Context, token string) [sha256.Size]byte {
	if h, ok := ctx.Value(hashedKey{}).(*hashed); ok {
		return h.hash
	}
	return hashOf(token)
}

// badToken returns the error for a token that identifies nobody here; why may be empty.
func (a *Access) badToken(why string) error {
	problem := "the token is invalid, has expired, or is not for this server"
	if why != "" {
		problem += " (" + why + ")"
	}
	return invalid(fmt.Sprintf("%s: get a new one for the audience %s, e.g. with kubectl create token NAME --audience=%s",
		problem, strings.Join(a.config.Audiences, " or "), a.config.Audiences[0]))
}

// lifeOf returns how long a token that the API server has accepted stays valid, if the token
// states it, as a JWT does.
func (a *Access) lifeOf(token string) time.Duration {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return remembered
	}
	content, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return remembered
	}
	var claims struct {
		Expiry float64 `json:"exp"`
	}
	if json.Unmarshal(content, &claims) != nil || claims.Expiry == 0 {
		return remembered
	}
	return time.Unix(int64(claims.Expiry), 0).Sub(a.config.Clock.Now())
}
