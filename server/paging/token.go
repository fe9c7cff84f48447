package paging

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// ErrToken is the error for a string that is not a page token of the request.
var ErrToken = errors.New("not a page token of this list, or one of a different request")

// tokenVersion is the first byte of every token. A checksum of the request and of the last item of
// the page follows, and then that item.
const (
	tokenVersion = 2
	tokenHead    = 1 + 4
)

// token returns the token of a page of the request that ends with last.
func token(request []byte, last string) string {
	b := make([]byte, 0, tokenHead+len(last))
	b = append(b, tokenVersion)
	b = binary.BigEndian.AppendUint32(b, checksum(request, last))
	return base64.RawURLEncoding.EncodeToString(append(b, last...))
}

// parse returns the last item of a token's page, or ErrToken.
func parse(request []byte, text string) (last string, err error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	// Line breaks are valid in base64, but not in tokens.
	if err != nil || len(text) != base64.RawURLEncoding.EncodedLen(len(b)) || len(b) < tokenHead || b[0] != tokenVersion {
		return "", ErrToken
	}
	last = string(b[tokenHead:])
	if binary.BigEndian.Uint32(b[1:]) != checksum(request, last) {
		return "", ErrToken
	}
	return last, nil
}

func checksum(request []byte, last string) uint32 {
	return crc32.Update(crc32.ChecksumIEEE(request), crc32.IEEETable, []byte(last))
}
