package settings

import (
	"strings"

	"github.com/workload-resizer/workload-resizer/internal/reader"
)

// key is a key that sets a field of a T.
type key[T any] struct {
	// name is the path of the key: a section and a key, or a key alone.
	name string
	// meaning, values and standard are for the reference: the description, the
	// valid values and the default.
	meaning, values, standard string
	read                      func(v reader.Value, into *T)
}

// gone returns a key that no longer exists. instead is the advice in the fault. The reference does not have it.
func gone(name, instead string) key[Settings] {
	return key[Settings]{name: name, read: func(v reader.Value, _ *Settings) { v.Fault("no longer exists: %s", instead) }}
}

// isGone reports whether the key no longer exists.
func (k *key[T]) isGone() bool { return k.meaning == "" }

// readKeys reads the keys of a mapping and of its sections, and reports whether there was no
// fault.
func readKeys[T any](v reader.Value, keys []key[T], into *T) bool {
	known := reader.Known{}
	sections := map[string][]key[T]{}
	for _, k := range keys {
		section, name, nested := strings.Cut(k.name, ".")
		if !nested {
			known[k.name] = func(v reader.Value) { k.read(v, into) }
			continue
		}
		k.name = name
		sections[section] = append(sections[section], k)
		known[section] = func(v reader.Value) { readKeys(v, sections[section], into) }
	}
	return v.Fields(known)
}
