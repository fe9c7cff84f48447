package prometheus

import (
	"errors"
	"net/url"
	"slices"
	"strings"
)

// longest is the length of the longest text in an error that comes from a Prometheus.
const longest = 500

// brief returns text that is not longer than that.
func brief(text string) string {
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + "…"
}

// fault is an error whose text is brief and without secrets.
type fault struct {
	text string
	err  error
}

// Error implements error.
func (f *fault) Error() string { return f.text }

// Unwrap returns the error with its whole text.
func (f *fault) Unwrap() error { return f.err }

// fault returns an error that may be shown. An address may be that of a redirect, and an answer may
// repeat what was sent.
func (s *Source) fault(err error) error {
	text := err.Error()
	if request := (*url.Error)(nil); errors.As(err, &request) {
		text = request.Op + " " + s.address + ": " + request.Err.Error()
	}
	return &fault{brief(s.hide(text)), err}
}

// hide replaces secrets in text that may be shown.
func (s *Source) hide(text string) string {
	secrets := slices.Concat(s.secrets, s.credentials.secrets())
	var pairs []string
	for _, secret := range secrets {
		// A short value is no secret, and it may be part of any word.
		if len(secret) < 4 {
			continue
		}
		pairs = append(pairs, secret, hidden)
		if escaped := url.QueryEscape(secret); escaped != secret {
			pairs = append(pairs, escaped, hidden)
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// hidden is shown instead of a secret.
const hidden = "xxxxx"

// redact returns an address that may be shown, and its secrets: a password, a user without one, which is
// a token, and the values of the query string.
func redact(address *url.URL) (shown string, secrets []string) {
	redacted := *address
	if user := address.User; user != nil {
		password, given := user.Password()
		secrets = append(secrets, password)
		if redacted.User = url.UserPassword(user.Username(), hidden); !given {
			secrets = append(secrets, user.Username())
			redacted.User = url.User(hidden)
		}
	}
	query := url.Values{}
	for name, values := range address.Query() {
		query.Set(name, hidden)
		secrets = append(secrets, values...)
	}
	redacted.RawQuery, redacted.Fragment, redacted.RawFragment = query.Encode(), "", ""
	return redacted.String(), secrets
}
