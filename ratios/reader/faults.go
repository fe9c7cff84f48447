package reader

import (
	"fmt"
	"strings"
)

// Faults is everything that is wrong with a document. Each says the path first, then
// the line if it is known, then what is wrong there:
//
//	overrides[2].bounds.cpu: min 2 > max 1
//	nodeTypes.n4.cpuPerf: line 4: want a finite number above 0, got "-1"
//
// What is wrong with the document as a whole has no path.
type Faults []string

// Error lists the faults, separated by semicolons.
func (f Faults) Error() string { return strings.Join(f, "; ") }

// Add adds what is wrong at a path.
func (f *Faults) Add(path, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if path != "" {
		text = path + ": " + text
	}
	*f = append(*f, text)
}

// Join appends a key to the path of its mapping, so that it cannot be taken for two.
func Join(path, key string) string {
	switch {
	case key == "" || strings.ContainsFunc(key, special):
		return fmt.Sprintf("%s[%q]", path, key)
	case path == "":
		return key
	}
	return path + "." + key
}

// special tells whether a key with this character could be taken for more than
// one key, or for the end of the path.
func special(r rune) bool {
	return r != '-' && r != '_' && r != '/' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}
