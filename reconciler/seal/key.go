package seal

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	// Size is the length of a key, in bytes.
	Size = 32
	// idLayout is the layout of the name of a key, which is when it was created.
	idLayout = "20060102T150405Z"

	// renewAfter is the age of the newest key at which another is created, and dropAfter the age at which keys are dropped.
	// Pods that are older have been recreated, or resized.
	renewAfter = 30 * 24 * time.Hour
	dropAfter  = 400 * 24 * time.Hour
	// settle is the age at which a key is used: by then, all replicas have read it.
	settle = 15 * time.Second
	// most is the maximum number of keys.
	most = 64
	// tokens is how many keys have a token that is valid: one that some replicas have not read yet, the one in use, and the
	// one before it.
	tokens = 3
)

// Ring is the set of keys that the replicas share. It is immutable; a nil Ring has no keys.
type Ring struct {
	keys map[string][]byte
	// names are the names of the keys, the oldest first.
	names []string
}

// ParseRing reads the content of a Secret: a key under each name. Entries that are not keys are reported and left out.
func ParseRing(data map[string][]byte) (*Ring, error) {
	r := &Ring{keys: map[string][]byte{}}
	var faults []string
	for _, name := range slices.Sorted(maps.Keys(data)) {
		_, err := time.Parse(idLayout, name)
		switch {
		case err != nil:
			faults = append(faults, fmt.Sprintf("%.64q is not the time when a key was created, as in %s", name, idLayout))
		case len(data[name]) != Size:
			faults = append(faults, fmt.Sprintf("%s has %d bytes instead of %d", name, len(data[name]), Size))
		case len(r.names) == most:
			faults = append(faults, fmt.Sprintf("%s is one key too many: at most %d are read", name, most))
		default:
			r.keys[name] = slices.Clone(data[name])
			r.names = append(r.names, name)
		}
	}
	if len(faults) > 0 {
		return r, fmt.Errorf("not all keys can be read: %s", strings.Join(faults, "; "))
	}
	return r, nil
}

// Data returns the keys as the content of a Secret.
func (r *Ring) Data() map[string][]byte {
	if r == nil {
		return nil
	}
	return maps.Clone(r.keys)
}

// With returns the ring with the keys of another one as well.
func (r *Ring) With(other *Ring) *Ring {
	all := r.Data()
	if all == nil {
		all = map[string][]byte{}
	}
	maps.Copy(all, other.Data())
	return &Ring{keys: all, names: slices.Sorted(maps.Keys(all))}
}

// Renewed returns the ring with a new key if that is due, and without keys that are too old. It reports whether it differs.
func (r *Ring) Renewed(now time.Time) (*Ring, bool) {
	renewed, changed := &Ring{keys: map[string][]byte{}}, false
	if r != nil {
		for _, name := range r.names {
			if now.Sub(createdAt(name)) >= dropAfter {
				changed = true
				continue
			}
			renewed.keys[name], renewed.names = r.keys[name], append(renewed.names, name)
		}
	}
	if last := renewed.current(now.Add(settle)); last == "" || now.Sub(createdAt(last)) >= renewAfter {
		name, key := now.UTC().Format(idLayout), make([]byte, Size)
		_, _ = rand.Read(key) // It never returns an error.
		renewed.keys[name], changed = key, true
		renewed.names = slices.Sorted(maps.Keys(renewed.keys)) // A clock may have been wrong: there may be keys from the future.
	}
	return renewed, changed
}

// current returns the name of the key to sign with: the newest that all replicas have read; empty if there is none yet.
func (r *Ring) current(now time.Time) string {
	if r == nil {
		return ""
	}
	for _, name := range slices.Backward(r.names) {
		if now.Sub(createdAt(name)) >= settle {
			return name
		}
	}
	return ""
}

// Token returns a secret that the holders of the keys can tell others, so that these can prove that they were told; empty if
// there is no key yet that all replicas have read.
func (r *Ring) Token(now time.Time) string {
	if name := r.current(now); name != "" {
		return tokenOf(r.keys[name])
	}
	return ""
}

// Issued reports whether a token is one of the newest keys. A caller that was told the one of an older key has been told
// another one since.
func (r *Ring) Issued(token string) bool {
	if r == nil {
		return false
	}
	issued := 0
	for _, name := range r.names[max(0, len(r.names)-tokens):] {
		issued |= subtle.ConstantTimeCompare([]byte(tokenOf(r.keys[name])), []byte(token))
	}
	return issued == 1
}

// tokenOf returns the token of a key. No MAC of a pod has the same input, which is longer. A path of a webhook's Service may have
// only lowercase letters, digits, dots and hyphens.
func tokenOf(key []byte) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte("token"))
	return hex.EncodeToString(h.Sum(nil)[:macSize])
}

// createdAt returns when the key of a valid name was created.
func createdAt(name string) time.Time {
	at, err := time.Parse(idLayout, name)
	if err != nil {
		panic(fmt.Sprintf("seal: the name %q of a key was not checked", name))
	}
	return at
}

// Has reports whether the ring has the key of a name.
func (r *Ring) Has(name string) bool { return r.key(name) != nil }
