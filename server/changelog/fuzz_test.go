package changelog

import (
	"testing"

	"github.com/workload-resizer/workload-resizer/test/footprint"
)

// Only a token that was made for the scope is accepted.
func FuzzToken(f *testing.F) {
	f.Add("a", token{7, 5, 3}.text("a"))
	f.Add("b", token{7, 5, 3}.text("a"))
	f.Add("a", token{7, 5, 3}.text("a")[:20]+"\r\n"+token{7, 5, 3}.text("a")[20:])
	f.Fuzz(func(t *testing.T, scope, text string) {
		var read token
		var err error
		footprint.CheckAllocated(t, len(scope)+len(text), func() { read, err = parse(scope, text) })
		if err == nil && read.text(scope) != text {
			t.Errorf("%q is accepted as %+v in %q", text, read, scope)
		}
	})
}
