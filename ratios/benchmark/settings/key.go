package settings

import (
	"strings"

	"github.com/workload-resizer/workload-resizer/ratios/reader"
)

// key is something that can be said of a T.
type key[T any] struct {
	// name is the path to it: a section and a key, or a key alone.
	name string
	// meaning, values and standard are for the reference: what it is for, what
	// it can be, and what it is where nothing is said.
	meaning, values, standard string
	read                      func(v reader.Value, into *T)
}

// readKeys reads the keys of a mapping, and of the sections in it. It tells whether all
// is well.
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
