package changelog

import (
	"testing"

	"github.com/workload-resizer/workload-resizer/test/footprint"
)

// Only a token that was made for the scope is accepted.
func FuzzToken(f *testing.F) {
	log := &Log[int]{epoch: 7}
	f.Add("a", log.token("a", 5))
	f.Add("b", log.token("a", 5))
	f.Fuzz(func(t *testing.T, scope, token string) {
		var next uint64
		var err error
		footprint.CheckAllocated(t, len(scope)+len(token), func() { next, err = log.parse(scope, token) })
		if err == nil && log.token(scope, next) != token {
			t.Errorf("%q is accepted as %d in %q", token, next, scope)
		}
	})
}
