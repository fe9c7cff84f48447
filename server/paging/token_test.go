package paging

import (
	"testing"

	"github.com/workload-resizer/workload-resizer/test/footprint"
)

// Only the token of an item of the request is accepted.
func FuzzToken(f *testing.F) {
	f.Add("a", token([]byte("a"), "n4"))
	f.Add("b", token([]byte("a"), "n4"))
	f.Add("", "")
	f.Add("a", token([]byte("a"), "n4")+"\n")
	f.Fuzz(func(t *testing.T, request, text string) {
		var last string
		var err error
		footprint.CheckAllocated(t, len(request)+len(text), func() { last, err = parse([]byte(request), text) })
		if err == nil && token([]byte(request), last) != text {
			t.Errorf("%q is accepted as the token of %q", text, last)
		}
	})
}
