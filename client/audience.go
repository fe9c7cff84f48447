package client

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

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
