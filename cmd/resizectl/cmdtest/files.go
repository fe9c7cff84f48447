package cmdtest

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Update makes tests write generated files instead of comparing with them.
var Update = flag.Bool("update", false, "write the golden files in testdata instead of comparing with them")

// Golden compares what a user would see with testdata/name.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *Update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("differs from %s, which \"go test -update\" of this package rewrites (-want +got):\n%s", path, diff)
	}
}

// FullDisk accepts nothing.
type FullDisk struct{}

// Write implements io.Writer.
func (FullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// File writes a file that is removed after the test.
func File(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
