package settings

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/workload-resizer/workload-resizer/internal/document"
)

// reader walks through a document and collects its faults.
type reader struct{ faults document.Faults }

func (r *reader) add(path, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if path != "" {
		text = path + ": " + text
	}
	r.faults = append(r.faults, fmt.Errorf("%s", text))
}

// each calls visit for every entry of a mapping, by key. Null is an empty mapping.
func (r *reader) each(path string, value any, visit func(path, key string, value any)) {
	if value == nil {
		return
	}
	entries, ok := value.(map[string]any)
	if !ok {
		r.add(path, "want a mapping, got %s", describe(value))
		return
	}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		visit(join(path, key), key, entries[key])
	}
}

// items calls visit for every item of a list. Null is an empty list.
func (r *reader) items(path string, value any, visit func(path string, item any)) {
	if value == nil {
		return
	}
	list, ok := value.([]any)
	if !ok {
		r.add(path, "want a list, got %s", describe(value))
		return
	}
	for i, item := range list {
		visit(fmt.Sprintf("%s[%d]", path, i), item)
	}
}

// key is something that can be said of a T.
type key[T any] struct {
	// name is the path to it: a section and a key, or a key alone.
	name string
	// meaning, values and standard are for the reference: what it is for, what
	// it can be, and what it is where nothing is said.
	meaning, values, standard string
	read                      func(r *reader, path string, value any, into *T)
}

// readKeys reads the keys of a mapping, and of the sections in it. Keys that are
// not known are faults.
func readKeys[T any](r *reader, path string, value any, known []key[T], into *T) {
	r.each(path, value, func(at, name string, value any) {
		var section []key[T]
		for _, k := range known {
			if k.name == name && !strings.Contains(name, ".") {
				k.read(r, at, value, into)
				return
			}
			if rest, ok := strings.CutPrefix(k.name, name+"."); ok {
				k.name = rest
				section = append(section, k)
			}
		}
		if section == nil {
			r.add(at, "unknown key")
			return
		}
		readKeys(r, at, value, section, into)
	})
}

func describe(value any) string {
	switch value.(type) {
	case nil:
		return "nothing"
	case []any:
		return "a list"
	case map[string]any:
		return "a mapping"
	}
	text := fmt.Sprint(value)
	if strings.Contains(text, "://") {
		return "a URL" // It may have a password.
	}
	return fmt.Sprintf("%q", text)
}

// join appends a key to the path of its mapping, so that it cannot be taken for
// two.
func join(path, key string) string {
	switch {
	case key == "" || strings.ContainsFunc(key, special):
		return fmt.Sprintf("%s[%q]", path, key)
	case path == "":
		return key
	}
	return path + "." + key
}

func special(r rune) bool {
	return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}
