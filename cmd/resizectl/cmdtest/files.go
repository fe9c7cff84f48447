package cmdtest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

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
