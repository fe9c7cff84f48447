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
	// ErrExpired is the error for a token of another log, or whose next event is no longer
	// kept.
	ErrExpired = errors.New("the changes since this token are no longer available on this replica")
)

// tokenVersion is the first byte of every token. The epoch, the number of the next event, and
// a checksum of these and the scope follow.
const (
	tokenVersion = 1
	tokenBody    = 1 + 8 + 8
	tokenLength  = tokenBody + 4
)

func (l *Log[T]) token(scope string, next uint64) string {
	b := make([]byte, 0, tokenLength)
	b = append(b, tokenVersion)
	b = binary.BigEndian.AppendUint64(b, l.epoch)
	b = binary.BigEndian.AppendUint64(b, next)
	b = binary.BigEndian.AppendUint32(b, checksum(scope, b))
	return base64.RawURLEncoding.EncodeToString(b)
}

// parse returns the number of the event that follows a token.
func (l *Log[T]) parse(scope, token string) (next uint64, err error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	switch {
	case err != nil, len(b) != tokenLength, b[0] != tokenVersion, binary.BigEndian.Uint32(b[tokenBody:]) != checksum(scope, b[:tokenBody]):
		return 0, ErrMalformed
	case binary.BigEndian.Uint64(b[1:]) != l.epoch:
		return 0, ErrExpired
	}
	return binary.BigEndian.Uint64(b[9:]), nil
}

func checksum(scope string, body []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE(body), crc32.IEEETable, []byte(scope))
}
