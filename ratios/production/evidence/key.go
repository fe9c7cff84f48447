package evidence

import (
	"crypto/sha256"
	"encoding/binary"
)

// Key identifies a workload or a node, in fewer bytes than its name.
type Key uint64

// KeyOf returns the key of what several parts name together, such as a namespace, a kind and a name. The parts are told apart,
// whatever they contain. Users choose names, so the key is the beginning of a cryptographic hash: nobody
// can choose a name that has the key of another workload.
func KeyOf(parts ...string) Key {
	h := sha256.New()
	var length [8]byte
	for _, part := range parts {
		binary.LittleEndian.PutUint64(length[:], uint64(len(part)))
		_, _ = h.Write(length[:]) // It never fails.
		_, _ = h.Write([]byte(part))
	}
	var sum [sha256.Size]byte
	return Key(binary.LittleEndian.Uint64(h.Sum(sum[:0])))
}
