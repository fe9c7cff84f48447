package feed

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

// noNamePart matches characters that a part of a benchmark's name cannot contain; see
// sample.Sample.Validate.
var noNamePart = regexp.MustCompile(`[^A-Za-z0-9_./:-]+`)

// maxName is the maximum length of a benchmark's name. marked is the length of the hash that
// benchmarkName appends, with its separator.
const (
	maxName = 128
	marked  = 1 + 8
)

// benchmarkName joins parts with spaces to the name of a benchmark. If it must replace
// characters or shorten the name, it appends a hash of the parts, so that different parts
// never result in the same name.
func benchmarkName(parts ...string) string {
	changed := false
	var clean []string
	for _, part := range parts {
		c := noNamePart.ReplaceAllString(part, "-")
		changed = changed || c != part
		clean = append(clean, c)
	}
	joined := strings.Join(clean, " ")
	name := strings.Trim(joined, " _./:-")
	if !changed && name == joined && len(name) <= maxName {
		return name
	}
	name = strings.Trim(name[:min(len(name), maxName-marked)], " _./:-")
	return strings.TrimPrefix(name+"-"+digest(parts...)[:marked-1], "-")
}

// digest returns a stable hash of the parts.
func digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
