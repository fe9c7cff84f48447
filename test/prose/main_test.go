package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestExtract(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{"a literal keeps its line", "package p\n\nconst a = \"two words\"\n", "\n\ntwo words.\n"},
		{"a raw literal keeps the lines that it spans", "package p\nconst a = `one line\nand another`\nvar b = \"a third\"\n", "\none line\nand another.\na third.\n"},
		{"literals on one line stay on it", "package p\nvar a = f(\"one text\", \"more\\ntext, too\")\n", "\none text. more text, too.\n"},
		{"names are not text", "package p\nconst a = \"cpu\"\n", ""},
		{"imports are not text", "package p\nimport \"fmt\"\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := text("p.go", []byte(c.source))
			if err != nil || string(got) != c.want {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
	t.Run("a file without text is not written", func(t *testing.T) {
		dir := t.TempDir()
		from, to := filepath.Join(dir, "p.go"), filepath.Join(dir, "out", "p.go.txt")
		if err := os.WriteFile(from, []byte("package p\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := extract(from, to); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(to); !os.IsNotExist(err) {
			t.Errorf("got %v, want no file", err)
		}
	})
	t.Run("an error names the file", func(t *testing.T) {
		_, err := text("p.go", []byte("package"))
		if err == nil || err.Error() != "p.go:1:8: expected 'IDENT', found 'EOF'" {
			t.Errorf("got %v", err)
		}
	})
}
