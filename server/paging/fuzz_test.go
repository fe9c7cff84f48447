package paging

import (
	"testing"

	"github.com/workload-resizer/workload-resizer/test/footprint"
)

// Only the token of an item is accepted.
func FuzzLast(f *testing.F) {
	f.Add(Token("n4"))
	f.Add("")
	f.Fuzz(func(t *testing.T, token string) {
		var last string
		var err error
		footprint.CheckAllocated(t, len(token), func() { last, err = Last(token) })
		if err == nil && Token(last) != token {
			t.Errorf("%q is accepted as the token of %q", token, last)
		}
	})
}
