package reader

import (
	"fmt"
	"strings"
)

// Faults is everything that is wrong with a document. Each fault starts with its path, followed
// by the line, if known, and by what is wrong there:
//
//	overrides[2].bounds.cpu: line 9: min 2 > max 1
//	nodeTypes.n4.cpuPerf: line 4: must be a finite number above 0, not "-1"
//
// A fault of the document as a whole has no path.
type Faults []string

// Error lists the faults, separated by semicolons.
func (f Faults) Error() string { return strings.Join(f, "; ") }

// Add adds a fault at a path.
func (f *Faults) Add(path, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if path != "" {
		text = path + ": " + text
	}
	*f = append(*f, text)
}

// add adds a fault at a path and a line; 0 for an unknown one.
func (f *Faults) add(path string, line int, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if line > 0 {
		text = fmt.Sprintf("line %d: %s", line, text)
	}
	f.Add(path, "%s", text)
}

// Join appends a key to the path of its mapping. A key that could be read as two is quoted.
func Join(path, key string) string {
	switch {
	case key == "" || strings.ContainsFunc(key, special):
		return fmt.Sprintf("%s[%q]", path, key)
	case path == "":
		return key
	}
	return path + "." + key
}

// special reports whether a key with this character could be read as more than one key, or as
// the end of the path.
func special(r rune) bool {
	return r != '-' && r != '_' && r != '/' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}
