package paging

import (
	"encoding/base64"
	"errors"
	"strings"
)

// version begins every token. It goes on with what the page had last.
const version = "1 "

// ErrToken is the error of what is no token.
var ErrToken = errors.New("it is none that this server has given")

// Token returns the one of a page that ends with this.
func Token(last string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(version + last))
}

// Last returns what the page of a token ends with, or ErrToken.
func Last(token string) (string, error) {
	text, err := base64.RawURLEncoding.Strict().DecodeString(token)
	last, isToken := strings.CutPrefix(string(text), version)
	if err != nil || !isToken {
		return "", ErrToken
	}
	return last, nil
}
