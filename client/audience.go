package client

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// guarded is token, but for what may not be sent to the server: whoever can pose
// as it, by the Service and the ConfigMap of its authority, would get what the API
// server takes. A token that does not say what it is for goes only where somebody
// has said so, by WithTokenAudience.
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
		return "", fmt.Errorf("the token of the kubeconfig's user does not say that it is for the audience %q, so it is not sent", o.audience)
	}
}

// audiencesOf returns the audiences that a JSON Web Token names, and whether the
// token is one. Nobody has to trust the token for that, so it is not verified.
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
	// Without any, or with what is no audience, it is for nobody.
	if json.Unmarshal(claims.Audience, &audiences) != nil {
		return nil, true
	}
	return audiences, true
}
