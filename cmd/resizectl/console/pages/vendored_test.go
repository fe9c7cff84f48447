package pages

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

// TestVendored checks that the library of the charts is the one that was chosen: nobody has changed it here.
func TestVendored(t *testing.T) {
	const folder = "assets/uplot/"
	sums, err := files.ReadFile(folder + "SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	names, err := files.ReadDir(strings.TrimSuffix(folder, "/"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if name.Name() == "SHA256SUMS" {
			continue
		}
		text, err := files.ReadFile(folder + name.Name())
		if err != nil {
			t.Fatal(err)
		}
		if line := fmt.Sprintf("%x  %s\n", sha256.Sum256(text), name.Name()); !strings.Contains(string(sums), line) {
			t.Errorf("SHA256SUMS does not have %q", line)
		}
	}
}

// TestScripts holds the scripts that were written here to a size that one can read.
func TestScripts(t *testing.T) {
	scripts, err := fs.Glob(files, "assets/*.js")
	if err != nil || len(scripts) < 2 {
		t.Fatalf("the scripts are %v, %v", scripts, err)
	}
	lines := 0
	for _, name := range scripts {
		text, err := files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines += strings.Count(string(text), "\n")
	}
	if lines > 1500 {
		t.Errorf("%d lines", lines)
	}
}
