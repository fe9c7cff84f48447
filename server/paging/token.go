package paging

import (
	"encoding/base64"
	"errors"
	"strings"
)

// version is the start of every token. The last item of the page follows.
const version = "1 "

// ErrToken is the error for a string that is not a page token.
var ErrToken = errors.New("not a page token of this server")

// Token returns the token of a page that ends with last.
func Token(last string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(version + last))
}

// Last returns the last item of a token's page, or ErrToken.
func Last(token string) (string, error) {
	text, err := base64.RawURLEncoding.Strict().DecodeString(token)
	last, isToken := strings.CutPrefix(string(text), version)
	if err != nil || !isToken {
		return "", ErrToken
	}
	return last, nil
}
