package feed

import (
	"crypto/sha256"
	"encoding/hex"
)

// digest returns a stable hash of the parts.
func digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
