package lifecycle

import (
	"path/filepath"
	"testing"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/state"
)

func TestClaim(t *testing.T) {
	file := filepath.Join(t.TempDir(), "20000")
	exists, gone := &state.Cluster{Dir: t.TempDir()}, t.TempDir()
	if err := exists.Create(); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		dir  string
		want bool
	}{{gone, true}, {exists.Dir, true}, {gone, false}, {exists.Dir, true}} {
		if got, err := claim(file, tc.dir); err != nil || got != tc.want {
			t.Errorf("%s: got %v, %v", tc.dir, got, err)
		}
	}
	if err := exists.Remove(); err != nil {
		t.Fatal(err)
	}
	if got, err := claim(file, gone); err != nil || !got {
		t.Errorf("the port of a cluster that is gone: %v, %v", got, err)
	}
}
