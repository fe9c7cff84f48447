package changelog

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// Errors for tokens.
var (
	// ErrMalformed is the error for a string that is not a token, or not a token of this scope.
	ErrMalformed = errors.New("not a token for this watch")
	// ErrExpired is the error for a token whose next event is not or no longer kept.
	ErrExpired = errors.New("the changes since this token are no longer available on this replica")
)

// tokenVersion is the first byte of every token. The fields of a token follow, and a checksum of
// these and the scope.
const (
	tokenVersion = 2
	tokenBody    = 1 + 8 + 8 + 8
	tokenLength  = tokenBody + 4
)

// token is the place of a reader: in the log that made it, and for other replicas.
type token struct{ epoch, next, place uint64 }

func (t token) text(scope string) string {
	b := make([]byte, 0, tokenLength)
	b = append(b, tokenVersion)
	for _, field := range [...]uint64{t.epoch, t.next, t.place} {
		b = binary.BigEndian.AppendUint64(b, field)
	}
	b = binary.BigEndian.AppendUint32(b, checksum(scope, b))
	return base64.RawURLEncoding.EncodeToString(b)
}

// parse reads a token of a scope. The error is ErrMalformed.
func parse(scope, text string) (token, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	// Line breaks are valid in base64, but not in tokens.
	if err != nil || len(b) != tokenLength || len(text) != base64.RawURLEncoding.EncodedLen(tokenLength) || b[0] != tokenVersion || binary.BigEndian.Uint32(b[tokenBody:]) != checksum(scope, b[:tokenBody]) {
		return token{}, ErrMalformed
	}
	return token{binary.BigEndian.Uint64(b[1:]), binary.BigEndian.Uint64(b[9:]), binary.BigEndian.Uint64(b[17:])}, nil
}

func checksum(scope string, body []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE(body), crc32.IEEETable, []byte(scope))
}
