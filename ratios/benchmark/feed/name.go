package feed

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

// noNamePart is what a part of a benchmark's name cannot have; see
// sample.Sample.Validate.
var noNamePart = regexp.MustCompile(`[^A-Za-z0-9_./:-]+`)

// maxName is that of a benchmark's name, and marked how long what clean adds is.
const (
	maxName = 128
	marked  = 1 + 8
)

// benchmarkName joins parts with spaces to the name of a benchmark. What a name
// cannot have is replaced; then a hash of the parts is added, so that different
// parts never have one name.
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

// digest identifies what consists of these parts: the same parts have the same one,
// today and tomorrow.
func digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
